// The texts about one node, in English.
import { addMessages } from '../lib/messages';
import type { Messages } from './en';

export const oneNodeTexts = {
  'node.voice.leader_text': 'Puts changes into order for all.',
  'node.voice.voter_text': 'Has a say in every change.',
  'node.voice.standby_text': 'Receives everything and steps in as a voter when one is missing.',
  'node.dashboard': 'Its own dashboard',
  'node.heard_title': 'Last heard',
  'node.rtt': 'Answers within',
  'node.ms': '{ms} ms',
  'node.drain': 'Drain',
  'node.drain_text': 'Draining moves its copies to the others first, then it can be switched off or removed without loss.',
  'node.drained': '{name} is being drained. Its copies move to the others.',
  'node.resume': 'Resume',
  'node.resumed': '{name} takes part again.',
  'node.remove': 'Remove …',
  'node.facts': 'About this node',
  'node.id': 'Identity',
  'node.hostname': 'Host name',
  'node.addresses': 'Addresses',
  'node.hardware': 'Processor cores',
  'node.hardware_text': { one: '{count} core, {arch}', other: '{count} cores, {arch}' },
  'node.version': 'Version',
  'node.started': 'Running since',
  'node.load': 'Load, 1 minute',
  'node.process': 'Samovar itself',
  'node.process_text': '{memory} memory, {cpu} of one core',
  'node.sandbox': 'Sandbox',
  'node.sandbox.full': 'Full',
  'node.sandbox.partial': 'Partial',
  'node.sandbox.off': 'Off',
  'node.power_source': 'Where watts come from',
  'node.gpu': 'Graphics processor',
  'node.gpu_text': '{load} load at {clock}',
  'node.temperatures': 'Temperatures',
  'node.rails': 'Power rails',
  'node.sensor': 'Sensor',
  'node.rail': 'Rail',
} satisfies Messages;

addMessages(oneNodeTexts);
