// The texts of uploads and operations wherever they are shown, in English.
import { addMessages } from '../lib/messages';
import type { Messages } from './en';

export const workTexts = {
  'tray.title': 'Tasks',
  'tray.empty': 'Nothing is running.',
  'tray.running': 'Running',
  'tray.done': 'Done',
  'tray.failed': 'Failed',
  'tray.review': 'Waits for your look',
  'transfer.queued': 'In line',
  'transfer.sending': 'Sending',
  'transfer.paused': 'Paused',
  'transfer.waiting': 'Waiting for the box',
  'transfer.file': 'Unfinished',
  'transfer.elsewhere': 'Sent by another tab',
  'transfer.failed': 'Stopped',
  'transfer.sent': 'Arrived',
  'transfer.arrived': 'Arrived: {name}. See under Data sets how it was understood.',
  'operation.queued': 'In line',
  'operation.running': 'Working',
  'operation.done': 'Done',
  'operation.failed': 'Failed',
  'operation.cancelled': 'Cancelled',
  'operation.checking': 'Checking',
  'operation.reading': 'Reading',
  'operation.placing': 'Placing',
  'operation.scrub': 'Checking what is stored',
  'operation.progress': '{what}: {percent}',
  'problem.upload_offset': 'The box has not taken in everything that was sent.',
  'problem.upload_expired': 'The box no longer has the beginning of this file: unfinished uploads are kept for 7 days. Begin again.',
  'problem.upload_busy': 'This file is being sent from another place at the moment.',
} satisfies Messages;

addMessages(workTexts);
