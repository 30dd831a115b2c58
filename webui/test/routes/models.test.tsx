import '../../src/messages/en-models';
import '../../src/messages/en-data';
import { render, type ComponentChild } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { session } from '../../src/lib/stores';
import type { Evaluation, ModelDetail, ModelVersion, PredictAnswer, SignatureInput, ThresholdRow } from '../../src/lib/types-models';
import { EvaluationView } from '../../src/routes/model/EvaluationView';
import { linePath } from '../../src/routes/model/Square';
import { nearest, rates } from '../../src/routes/model/Threshold';
import { Versions } from '../../src/routes/model/Versions';
import { Coefficients, Importance } from '../../src/routes/model/Weights';
import { curlText, exampleRow, pythonText, shownValue, toRow } from '../../src/routes/use/rows';
import { Answer, TryIt } from '../../src/routes/use/TryIt';
import { makeSession } from '../support/fakes';

let root: HTMLElement;
const show = (what: ComponentChild): void => act(() => render(what, root)) as unknown as void;
const press = (name: string): void => {
  const found = [...root.querySelectorAll('button')].find((one) => one.textContent === name || one.getAttribute('aria-label') === name);
  act(() => found!.click());
};
beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
});
afterEach(() => {
  act(() => render(null, root));
  root.remove();
  vi.unstubAllGlobals();
});

const thresholds: ThresholdRow[] = [
  { threshold: 0.25, tp: 8, fp: 6, tn: 4, fn: 2 },
  { threshold: 0.5, tp: 6, fp: 2, tn: 8, fn: 4 },
];
const told: Evaluation = {
  task: 'binary',
  rows: { train: 70, valid: 10, test: 20 },
  metrics: { test: { auc: { value: 0.81, low: 0.75, high: 0.86 } }, valid: { auc: 0.8 }, train: { auc: { value: 0.9 } } },
  baseline: { auc: 0.5 },
  roc: [[0, 0], [0.2, 0.6], [1, 1]],
  pr: [[0.1, 1], [1, 0.5]],
  calibration: [{ low: 0, high: 0.5, rows: 12, predicted: 0.2, observed: 0.25 }, { low: 0.5, high: 1, rows: 0, predicted: 0, observed: 0 }],
  thresholds,
  confusion: { classes: ['stays', 'comes back'], counts: [[8, 2], [4, 6]] },
  subgroups: [{ input: 'sex', level: 'female', rows: 11, metrics: { auc: 0.79 } }],
  importance: [{ input: 'age', standardised: 0.1, permutation: 0.02 }, { input: 'ward', standardised: 0.9, permutation: 0.04 }],
  coefficients: [{ input: 'age', level: '', estimate: 0.01, se: 0.002, z: 5, p: 0.00001, low: 0.006, high: 0.014 }, { input: 'ward', level: 'surgery', estimate: -0.4, se: 0.3, z: -1.3, p: 0.18, low: -1, high: 0.2 }],
  intercept: -2,
  leakage: ['“again” alone tells the target.'],
};

describe('an evaluation', () => {
  it('shows each measure with its interval, the plain guess and the other rows', () => {
    show(<EvaluationView told={told} classes={[]} />);
    const auc = [...root.querySelectorAll('tbody tr')].find((row) => row.textContent?.includes('AUC'))!;
    for (const text of ['0.810', '0.750 to 0.860', '0.500', '0.800', '0.900']) expect(auc.textContent).toContain(text);
    expect(root.textContent).toContain('“again” alone tells the target.');
    expect(root.textContent).toContain('sex = female');
  });

  it('counts right and wrong at the threshold chosen', () => {
    expect(nearest(thresholds, 0.4)!.threshold).toBe(0.5);
    expect(rates(thresholds[1]!)).toEqual({ recall: 0.6, precision: 0.75, specificity: 0.8, accuracy: 0.7 });
    expect(rates({ threshold: 1, tp: 0, fp: 0, tn: 5, fn: 0 })).toMatchObject({ recall: null, precision: null });
    show(<EvaluationView told={told} classes={[]} />);
    expect(root.textContent).toContain('Say “comes back” from 50%');
    const slider = root.querySelector<HTMLInputElement>('input[type=range]')!;
    act(() => {
      slider.value = '0.2';
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    });
    expect(root.textContent).toContain('Say “comes back” from 25%');
    expect([...root.querySelectorAll('td b')].map((one) => one.textContent)).toEqual(expect.arrayContaining(['4', '6', '2', '8']));
  });

  it('draws pictures that speak, and has a table for each', () => {
    show(<EvaluationView told={told} classes={[]} />);
    const labels = [...root.querySelectorAll('svg[role=img]')].map((one) => one.getAttribute('aria-label'));
    expect(labels).toEqual(['ROC curve, area under it 0.810.', expect.stringContaining('Precision over recall'), 'Calibration: predicted and observed differ by at most 5%.']);
    expect(linePath([[0, 0], [1, 1]])).toBe('M34.0 226.0L254.0 6.0');
    const roc = [...root.querySelectorAll('figure')].find((one) => one.textContent?.includes('ROC'))!;
    act(() => roc.querySelector('button')!.click());
    expect(roc.querySelector('svg[role=img]')).toBeNull();
    expect(roc.querySelectorAll('tbody tr')).toHaveLength(3);
  });

  it('shows several classes and numbers without a threshold', () => {
    show(<EvaluationView told={{ ...told, task: 'classes', thresholds: [], roc: undefined, pr: undefined, calibration: undefined }} classes={[]} />);
    expect(root.querySelector('input[type=range]')).toBeNull();
    expect(root.textContent).toContain('was stays');
    show(<EvaluationView told={{ task: 'number', rows: told.rows, metrics: { test: { rmse: 2 } }, calibration: told.calibration }} classes={[]} />);
    expect(root.textContent).toContain('Predicted, mean');
  });

  it('ranks inputs by what shuffling costs, and lists coefficients by size', () => {
    show(<Importance told={told} />);
    expect([...root.querySelectorAll('li > span:first-child')].map((one) => one.textContent)).toEqual(['ward', 'age']);
    expect(root.querySelector('meter')).toBeNull();
    show(<Coefficients told={told} />);
    expect([...root.querySelectorAll('tbody th')].map((one) => one.textContent)).toEqual(['ward = surgery', 'age']);
    expect(root.textContent).toContain('< 0.001');
    expect(root.textContent).toContain('The intercept is -2.');
  });
});

describe('versions', () => {
  const version = (number: number, change: Partial<ModelVersion> = {}): ModelVersion => ({ version: number, stage: 'candidate', protected: false, created_at: '2026-01-01T00:00:00Z', created_by: 'ada', job_id: null, dataset_id: null, dataset: null, dataset_version: null, dataset_hash: '', code_version: '', headline: { auc: 0.7 }, stored_bytes: 9, spec: null, signature: null, ...change });
  const model = { name: 'again', owner_id: 'usr_1', owner: 'ada', version: 2, serving: 1, served_before: null, may_manage: true, granted: [], versions: [version(2), version(1, { stage: 'production' })] } as unknown as ModelDetail;

  it('put one into use with one press, and keep the one in use from being deleted', async () => {
    session.value = makeSession();
    const calls: string[] = [];
    vi.stubGlobal('fetch', (address: string, options: RequestInit) => {
      calls.push(`${options.method} ${address}`);
      return Promise.resolve(Response.json({ items: [], differences: [], metrics: {} }));
    });
    show(<Versions model={model} reload={() => undefined} />);
    const remove = root.querySelector<HTMLButtonElement>('[aria-label="Delete version 1"]')!;
    expect(remove.disabled).toBe(true);
    press('Put into use: version 2');
    await vi.waitFor(() => expect(calls).toContain('POST /api/v1/models/again/versions/2:promote'));
    session.value = null;
  });
});

describe('asking', () => {
  const inputs: SignatureInput[] = [
    { name: 'age', type: 'integer', min: 18, max: 92, example: 67 },
    { name: 'ward', type: 'category', levels: ['surgery', 'other'], example: 'surgery' },
    { name: 'alone', type: 'boolean', example: true },
    { name: 'note', type: 'text', example: null },
  ];

  it('turns fields into a row: numbers as numbers, nothing as missing', () => {
    expect(exampleRow(inputs)).toEqual({ age: '67', ward: 'surgery', alone: 'true', note: '' });
    expect(toRow(inputs, { age: '6,5', ward: ' other ', alone: 'false', note: '' })).toEqual({ age: 6.5, ward: 'other', alone: false, note: null });
    expect(toRow(inputs, { age: 'old' })).toEqual({ age: 'old', ward: null, alone: null, note: null });
    expect(shownValue(inputs[2]!, 'yes')).toBe('true');
    expect(shownValue({ name: 'bmi', type: 'real' }, 27.400000000000002)).toBe('27.4');
    const when: SignatureInput = { name: 'when', type: 'time' };
    expect(shownValue(when, 1_640_995_200_000_000)).toBe('2022-01-01');
    expect(shownValue(when, '1672548444177568')).toBe('2023-01-01T04:47:24Z');
  });

  it('is the same from a program', () => {
    const row = { name: "d'Arc", alone: true, age: null };
    expect(curlText('https://box', 'a b', row)).toContain("/models/a%20b:predict");
    expect(curlText('https://box', 'm', row)).toContain("d'\\''Arc");
    const text = pythonText('https://box', 'm', row);
    for (const part of ['"alone": True,', '"age": None,', `"name": "d'Arc",`]) expect(text).toContain(part);
  });

  const answer: PredictAnswer = {
    model: 'again',
    version: 2,
    classes: ['no', 'yes'],
    predictions: [{ value: 0.342, label: 'no', probabilities: [0.658, 0.342], reasons: [{ input: 'age', value: '67', contribution: 0.4 }, { input: 'ward', value: '', contribution: -0.1 }] }],
    warnings: [{ code: 'unseen_level', input: 'ward', row: 0, detail: 'ward was never “x”.' }],
  };

  it('gives the answer with its probability, reasons and warnings', () => {
    show(<Answer answer={answer} target="again" inputs={inputs} />);
    for (const text of ['again no', '65.8%', 'no', 'yes', '34.2%', 'raises 0.40', 'lowers 0.10', 'missing', 'ward was never “x”.']) expect(root.textContent).toContain(text);
  });

  it('answers with a number where there are no classes', () => {
    show(<Answer answer={{ ...answer, classes: null, predictions: [{ value: 4.25 }], warnings: [] }} target="days" inputs={inputs} />);
    expect(root.textContent).toContain('days 4.25');
    expect(root.querySelector('ul')).toBeNull();
  });

  it('sends inputs in the body, never in the address', async () => {
    const asked = vi.fn<(address: string, options: RequestInit) => Promise<Response>>(() => Promise.resolve(Response.json(answer)));
    vi.stubGlobal('fetch', asked);
    show(<TryIt model="again" version={2} target="again" inputs={inputs} onRow={() => undefined} />);
    expect(root.textContent).toContain('In training 18 to 92');
    press('Predict');
    await vi.waitFor(() => expect(root.textContent).toContain('raises 0.40'));
    const [address, options] = asked.mock.calls[0]!;
    expect(address).toBe('/api/v1/models/again:predict');
    expect(JSON.parse(options.body as string)).toEqual({ rows: [{ age: 67, ward: 'surgery', alone: true, note: null }], version: 2, reasons: true });
    expect(location.search).not.toContain('67');
  });
});
