// The texts of removing a node, in English.
import { addMessages } from '../lib/messages';
import type { Messages } from './en';

export const removeTexts = {
  'node.remove_title': 'Remove {name}',
  'node.remove_action': 'Remove the node',
  'node.remove_reading': 'Looking at what it holds',
  'node.remove_files': { one: 'It holds {count} piece, {size}.', other: 'It holds {count} pieces, {size}.' },
  'node.remove_text': 'It loses its certificate at once and cannot come back by itself. To use it again, reset it and add it anew.',
  'node.remove_unsafe': 'Removing it now loses data or stops the cluster. Drain it first and wait until it is empty, if it still answers.',
  'node.remove_accept': 'Remove it anyway: I accept that what only this node holds is lost',
  'node.remove_accept_thin': 'Remove it anyway: I accept fewer copies until they are made anew elsewhere',
  'node.remove_type': 'Type {name} to confirm',
  'node.removed': '{name} was removed.',
} satisfies Messages;

addMessages(removeTexts);
