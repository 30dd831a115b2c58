// The texts of the frame’s dialogs, in English.
import { addMessages } from '../lib/messages';
import type { Messages } from './en';

export const dialogTexts = {
  'help.search': 'Go to the search field',
  'help.this': 'Show this list',
  'help.escape': 'Close a dialog or a menu',
  'help.switch': 'Use keyboard shortcuts',
  'help.switch_detail': 'Switch off if single keys get in the way of your software.',
  'expiry.title': 'Are you still there?',
  'expiry.text': 'To protect the box you will be logged out soon, because nothing was done for a while. What you typed stays on the page.',
  'expiry.text_final': 'Your session reaches its longest time soon. You will be asked for your password; what you typed stays on the page.',
  'expiry.stay': 'Stay logged in',
  'relogin.title': 'Log in again',
  'relogin.text': 'Your session has ended. Log in to go on where you were; what you typed is still there.',
  'relogin.leave': 'Leave',
  'reauth.title': 'Confirm it is you',
  'reauth.text': 'This changes who may do what, or takes something out of the box. Type your password to go on.',
  'reauth.submit': 'Confirm',
} satisfies Messages;

addMessages(dialogTexts);
