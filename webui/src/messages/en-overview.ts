// The texts of the overview, in English.
import { addMessages } from '../lib/messages';
import type { Messages } from './en';

export const overviewTexts = {
  'overview.reading': 'Reading the state of the box',
  'overview.nodes_up': { one: '{up} of {total} node is up', other: '{up} of {total} nodes are up' },
  'alerts.title': 'Alerts',
  'alerts.none': 'No open alerts',
  'alerts.none_text': 'When something needs a person, it shows here with what to do.',
  'alerts.since': 'Since {when}',
  'alerts.dismiss': 'Hide',
  'alerts.dismiss_what': 'Hide: {title}',
  'alerts.dismissed': 'Hidden: {title}',
  'severity.info': 'Note',
  'severity.warning': 'Warning',
  'severity.critical': 'Critical',
  'checklist.title': 'Next steps',
  'checklist.done': 'Done:',
  'checklist.open': 'To do:',
  'checklist.first': 'Your first model',
  'checklist.data': 'Add data',
  'checklist.data_text': 'Drop a file, or begin with sample data that the box makes itself.',
  'checklist.data_done': 'There is data to work with.',
  'checklist.data_open': 'Open data sets',
  'checklist.train': 'Train',
  'checklist.train_text': 'Choose what to predict and let the box learn it. Not in this version yet.',
  'checklist.use': 'Use',
  'checklist.use_text': 'Ask the model about one case or a whole file. Not in this version yet.',
  'checklist.certificate': 'Trust the certificate',
  'checklist.certificate_text': 'Install the box’s certificate on your computers once, and browsers stop warning.',
  'checklist.mark': 'Mark as done',
  'checklist.undo': 'Not done yet',
  'checklist.admin': 'Add a second administrator',
  'checklist.admin_text': 'If you forget your password or are away, somebody else can help.',
  'checklist.admin_done': 'There is somebody who can help if you are away.',
} satisfies Messages;

addMessages(overviewTexts);
