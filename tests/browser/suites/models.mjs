// From the sample data to a prediction with its reasons: a job, its curve, the evaluation, versions, a batch, an export.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { faults } from '../lib/browser.mjs';
import { stays } from '../lib/files.mjs';
import { check, equal, none, test } from '../lib/harness.mjs';

const sample = 'Hospital readmissions (sample)';
const model = 'readmission';
const said = (page, text) => page.getByRole('log').getByText(text).first().waitFor();

async function sampleData(page) {
  await page.getByRole('link', { name: sample, exact: true }).or(page.getByRole('button', { name: 'Load sample data' })).first().waitFor();
  const known = page.getByRole('link', { name: sample, exact: true });
  if ((await known.count()) === 0) {
    await page.getByRole('button', { name: 'Load sample data' }).click();
    await page.locator('[data-operation=done]').waitFor();
  }
  await known.first().click();
  await page.getByRole('heading', { level: 1, name: sample }).waitFor();
}

test('models: without any, the pages say what to do', async (world) => {
  const { page, witness } = await world.inside('/jobs');
  await page.getByText('No jobs yet').waitFor();
  equal(await page.locator('main li h2').count(), 3, 'examples');
  none(await faults(page, witness), 'jobs');
  await world.picture(page, 'jobs-empty');
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  await page.getByText('No models yet').waitFor();
  none(await faults(page, witness), 'models');
  await page.goto(`${world.daemon.url}/jobs/job_none`);
  witness.expecting(/status of 404/);
  await page.getByText('There is no such job', { exact: true }).waitFor();
});

test('models: a question in plain words becomes a job, and its curve is watched', async (world) => {
  const { page, witness } = await world.inside('/datasets');
  await sampleData(page);
  await page.getByRole('link', { name: 'Train a model' }).click();
  await page.getByRole('heading', { level: 1, name: 'New job' }).waitFor();
  await page.getByLabel('Predict', { exact: true }).selectOption('readmitted_30d');
  await page.getByText(/^Predict readmitted_30d \(yes or no\) from \d+ columns/).waitFor();
  check(!(await page.getByLabel('admission_id', { exact: true }).isChecked()), 'a column that names rows is an input');
  check(await page.getByLabel('age', { exact: true }).isChecked(), 'age is no input');
  // The box advises about what rows have in common.
  await page.getByText(/Roughly|About/).waitFor();
  none(await faults(page, witness), 'new job');
  await page.getByLabel('Whole groups').check();
  await page.getByLabel('Group column').selectOption('mrn');
  await page.getByLabel('Name of the model').fill('no good name!');
  await page.getByText(/One thing is not right yet/).waitFor();
  none(await faults(page, witness), 'new job with a fault');
  await page.getByLabel('Name of the model').fill(model);
  await page.getByText('Advanced', { exact: true }).click();
  await page.getByLabel('L1 penalty').waitFor();
  none(await faults(page, witness), 'new job, advanced');
  await page.getByText('The same job from a terminal or a program').click();
  const command = await page.getByRole('region', { name: 'Command line' }).innerText();
  check(command.includes('--split group:mrn') && command.includes(`--name ${model}`), `the command is ${command}`);
  await page.getByText(/Roughly|About/).waitFor();
  await page.getByRole('button', { name: 'Start training' }).click();

  await page.waitForURL(/\/jobs\/job_/);
  await page.getByRole('heading', { level: 1, name: model }).waitFor();
  await page.getByRole('link', { name: 'Open model' }).waitFor();
  await said(page, `Ready: ${model}`);
  await page.getByRole('img', { name: /^Loss\. / }).waitFor();
  await page.locator('canvas').first().waitFor();
  await page.getByLabel('Logarithmic').check();
  await page.getByLabel('Along').selectOption('rows');
  await page.getByRole('figure', { name: 'Loss' }).getByRole('button', { name: 'Table' }).click();
  await page.getByRole('region', { name: 'Loss, values' }).getByRole('rowheader').first().waitFor();
  none(await faults(page, witness), 'job');
  await page.getByRole('button', { name: /^Tasks/ }).click();
  await page.locator('header').getByRole('link', { name: model, exact: true }).waitFor();
});

test('models: power and time in plain words, and what cannot be is said', async (world) => {
  const { page, witness } = await world.inside('/jobs/new');
  await page.getByLabel('Data set').selectOption({ label: sample });
  await page.getByLabel('Predict', { exact: true }).selectOption('readmitted_30d');
  await page.getByLabel('At most, watts').fill('1');
  await page.getByText(/W at rest, and this is for all of them together/).waitFor();
  await page.getByLabel('At most, watts').fill('5000');
  await page.getByLabel('Finish by').fill('25:00');
  await page.getByText(/this must be a time of day such as 06:00/).waitFor();
  none(await faults(page, witness), 'power with faults');
  await page.getByLabel('Finish by').fill('06:00');
  await page.getByText(/can be kept/).waitFor();
  none(await faults(page, witness), 'power and time');
  await page.getByText('The same job from a terminal or a program').click();
  const command = await page.getByRole('region', { name: 'Command line' }).innerText();
  check(command.includes('--watts 5000') && command.includes('--finish-by 06:00'), command);
});

test('models: the evaluation is honest and can be read without pictures', async (world) => {
  const { page, witness } = await world.inside(`/models/${model}`);
  const auc = page.getByRole('row', { name: /^AUC/ });
  await auc.waitFor();
  const value = Number(/0\.\d+/.exec(await auc.innerText())?.[0]);
  check(value > 0.6 && value < 0.95, `AUC on test rows is ${value}`);
  check(/0\.\d+ to 0\.\d+/.test(await auc.innerText()), 'the interval is missing');
  await page.getByRole('img', { name: /^ROC curve/ }).waitFor();
  const matrix = page.getByRole('region', { name: 'Right and wrong' });
  const before = await matrix.innerText();
  await page.getByLabel(/^Say “/).fill('0.1');
  check((await matrix.innerText()) !== before, 'the threshold changes nothing');
  const roc = page.getByRole('figure', { name: 'ROC' });
  await roc.getByRole('button', { name: 'Table' }).click();
  await roc.getByRole('table').waitFor();
  none(await faults(page, witness), 'evaluation');
  await page.getByRole('link', { name: 'What counts' }).click();
  await page.getByRole('figure', { name: 'What counts most' }).getByText('prior_admissions_12m').waitFor();
  await page.getByRole('heading', { level: 2, name: 'Coefficients' }).waitFor();
  none(await faults(page, witness), 'what counts');
});

test('models: an answer comes with probability and reasons, and inputs stay out of the address', async (world) => {
  const { page, witness } = await world.inside(`/models/${model}/use`);
  const addresses = [];
  page.on('request', (request) => addresses.push(request.url()));
  await page.getByLabel('age', { exact: true }).fill('91');
  await page.getByLabel('prior_admissions_12m').fill('4');
  await page.getByLabel('haemoglobin').fill('');
  await page.getByRole('button', { name: 'Predict', exact: true }).click();
  await page.getByRole('heading', { level: 3, name: 'Why' }).waitFor();
  const list = await page.getByRole('list', { name: 'Probability' }).innerText();
  equal([...list.matchAll(/[\d.]+%/g)].length, 2, `probabilities in ${list}`);
  check(await page.getByText(/^(raises|lowers) /).first().isVisible(), 'no reason is given');
  check(!addresses.some((one) => one.includes('91') && one.includes('age')), `an input is in an address: ${addresses}`);
  const python = await page.getByRole('region', { name: 'Python' }).innerText();
  check(python.includes('"age": 91,') && python.includes('"haemoglobin": None,'), 'the snippet does not follow the form');
  none(await faults(page, witness), 'prediction');
  await world.picture(page, 'models-prediction');
});

test('models: a data set and a file are predicted row by row', async (world) => {
  const { page, witness } = await world.inside(`/models/${model}/use`);
  await page.getByLabel('Data set').selectOption({ label: sample });
  await page.getByRole('button', { name: 'Predict all rows' }).click();
  const coming = page.waitForEvent('download');
  await page.locator('[data-scoring=done]').getByRole('link', { name: /^Download CSV/ }).click();
  const lines = readFileSync(await (await coming).path(), 'utf8').trim().split('\n');
  equal(lines.length, 20_001, 'lines of the result');
  check(/prediction/.test(lines[0]), `the result begins with ${lines[0]}`);
  check(!lines[1].includes('NaN') && !lines[0].includes('mrn'), 'the result holds what it should not');

  // Other columns than in training: defined answers, and a warning.
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload a file' }).click();
  await (await chosen).setFiles({ name: 'others.csv', mimeType: 'text/csv', buffer: Buffer.from(stays(300)) });
  await page.locator('[data-scoring=done]').nth(1).waitFor();
  await page.locator('[data-scoring]').first().getByText('300 rows').waitFor();
  none(await faults(page, witness), 'batches');
  await page.getByRole('button', { name: /^Delete the predictions for Uploaded file/ }).click();
  await page.locator('[data-scoring]').nth(1).waitFor({ state: 'detached' });
});

test('models: an export says why, and its checksum is the file’s', async (world) => {
  const { page, witness } = await world.confirmed(`/models/${model}/use`);
  const button = page.getByRole('button', { name: 'Export', exact: true });
  check(await button.isDisabled(), 'it can be exported without a reason');
  await page.getByLabel('JSON').check();
  await page.getByLabel('Reason').fill('Trial on the ward computer');
  const coming = page.waitForEvent('download');
  await button.click();
  const bytes = readFileSync(await (await coming).path());
  const sum = createHash('sha256').update(bytes).digest('hex');
  await page.getByText(sum).waitFor();
  none(await faults(page, witness), 'export');

  // What was exported can be taken in again, as a new model.
  await page.goto(`${world.daemon.url}/models`);
  await page.getByRole('button', { name: 'Import' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import a model' });
  const chosen = page.waitForEvent('filechooser');
  await dialog.getByRole('button', { name: 'Choose a file' }).click();
  await (await chosen).setFiles({ name: 'model.json', mimeType: 'application/json', buffer: bytes });
  await dialog.getByLabel('Name').fill('imported');
  none(await faults(page, witness), 'import');
  await dialog.getByRole('button', { name: 'Import' }).click();
  await page.getByRole('heading', { level: 1, name: 'imported' }).waitFor();
});

test('models: a second version is put into use and rolled back with one press each', async (world) => {
  const { page, witness } = await world.inside('/jobs');
  await page.getByRole('link', { name: model, exact: true }).first().click();
  await page.getByRole('link', { name: 'Try again with…' }).click();
  await page.getByText('Advanced', { exact: true }).click();
  await page.getByLabel('L2 penalty').fill('10');
  await page.getByText(/Roughly|About/).waitFor();
  await page.getByRole('button', { name: 'Start training' }).click();
  await page.getByRole('link', { name: 'Open model' }).click();
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByRole('button', { name: 'Put into use: version 1' }).click();
  await said(page, `${model}: version 1 is in use.`);
  await page.getByRole('button', { name: 'Put into use: version 2' }).click();
  await said(page, `${model}: version 2 is in use.`);
  // The version in use cannot be deleted.
  await page.getByRole('button', { name: 'Delete version 2', disabled: true }).waitFor();
  await page.getByRole('button', { name: 'Roll back' }).click();
  await said(page, 'the version before is in use again');
  await page.getByRole('button', { name: 'Put into use: version 2' }).waitFor();
  await page.getByLabel('The other').selectOption({ label: 'Version 2' });
  await page.getByRole('row', { name: /l2/ }).getByText('10').waitFor();
  none(await faults(page, witness), 'versions');
  await world.picture(page, 'models-versions');
  await page.getByRole('link', { name: 'Model card' }).click();
  await page.getByRole('button', { name: 'Print the model card' }).waitFor();
  none(await faults(page, witness), 'model card');
});

test('models: a number is predicted too', async (world) => {
  const { page, witness } = await world.inside('/jobs/new');
  await page.getByLabel('Data set').selectOption({ label: sample });
  await page.getByLabel('Predict', { exact: true }).selectOption('length_of_stay');
  await page.getByLabel('Name of the model').fill('stay');
  await page.getByText(/Roughly|About/).waitFor();
  await page.getByRole('button', { name: 'Start training' }).click();
  await page.getByRole('link', { name: 'Open model' }).click();
  await page.getByRole('row', { name: /^(RMSE|R²)/ }).first().waitFor();
  none(await faults(page, witness), 'evaluation of a number');
  await page.getByRole('link', { name: 'Use', exact: true }).click();
  await page.getByRole('button', { name: 'Predict', exact: true }).click();
  await page.getByRole('heading', { level: 3, name: 'Why' }).waitFor();
  none(await faults(page, witness), 'a number as the answer');
});

test('models: a long job is paused, resumed, cancelled and deleted', async (world) => {
  const { page, witness } = await world.inside('/jobs/new');
  await page.getByLabel('Data set').selectOption({ label: sample });
  await page.getByLabel('Predict', { exact: true }).selectOption('readmitted_30d');
  await page.getByLabel('Name of the model').fill('long');
  await page.getByText('Advanced', { exact: true }).click();
  await page.getByLabel('Solver').selectOption('adagrad');
  await page.getByLabel('Passes').fill('100000');
  await page.getByLabel('Stop early').uncheck();
  await page.getByText(/Roughly|About/).waitFor();
  await page.getByRole('button', { name: 'Start training' }).click();
  await page.getByRole('img', { name: /^Loss\. / }).waitFor();
  none(await faults(page, witness), 'a running job');
  await world.picture(page, 'models-running');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused at its last checkpoint').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  // The overview shows what goes on.
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.locator('main').getByRole('link', { name: 'long', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel job' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel long?' });
  await dialog.waitFor();
  equal(await page.evaluate(() => document.activeElement?.textContent), 'Cancel', 'focus');
  none(await faults(page, witness), 'dialog');
  await dialog.getByRole('button', { name: 'Cancel job' }).click();
  await page.getByRole('link', { name: 'Try again with…' }).waitFor();
  await page.getByRole('button', { name: 'Protect' }).click();
  await page.getByRole('button', { name: 'Protected' }).waitFor();
  equal(await page.getByRole('button', { name: 'Delete' }).count(), 0, 'buttons to delete what is protected');
  await page.getByRole('button', { name: 'Protected' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await said(page, 'Deleted: long');
});
