// The texts that every page needs, in English. A table: keys grouped by page, {names} are filled in, plural texts
// have one form per rule of Intl.PluralRules that English knows. Parts that are loaded later bring their own, in the
// files beside this one.

export interface Plural {
  one: string;
  other: string;
}
export type Messages = Record<string, string | Plural>;

export const en = {
  'app.name': 'Samovar',

  'action.cancel': 'Cancel',
  'action.clear_filter': 'Clear filters',
  'action.close': 'Close',
  'action.copied': 'Copied',
  'action.copy': 'Copy',
  'action.copy_what': 'Copy {what}',
  'action.edit': 'Edit',
  'action.reload': 'Reload the page',
  'action.retry': 'Try again',
  'action.save': 'Save',
  'action.undo': 'Undo',

  'frame.home': 'Go to the overview',
  'frame.loading': 'Loading',
  'frame.logout': 'Log out',
  'frame.menu': 'Menu',
  'frame.messages': 'Messages',
  'frame.nav': 'Main',
  'frame.page_failed': 'This page could not be loaded',
  'frame.page_failed_text': 'The box was updated, or cannot be reached. Reloading usually helps.',
  'frame.person': 'Signed in as {name}',
  'frame.served': 'Served by',
  'frame.served_by': 'Served by {node}',
  'frame.skip': 'Skip to the content',
  'frame.title': '{page} · Samovar',
  'frame.title_box': '{page} · {box} · Samovar',
  'frame.version': 'Version {version}',

  'nav.overview': 'Overview',
  'nav.nodes': 'Nodes',
  'nav.datasets': 'Data sets',
  'nav.jobs': 'Jobs',
  'nav.models': 'Models',
  'nav.users': 'Users',
  'nav.tokens': 'API tokens',
  'nav.sessions': 'Sessions',
  'nav.audit': 'Audit log',
  'nav.settings': 'Settings',
  'nav.account': 'Your account',

  'quorum.title': 'This side of the network cannot save changes',
  'quorum.text': '{up} of {total} nodes can be reached from here; a change needs more than half. Reading goes on, and saving works again once the others are back.',
  'quorum.doctor': 'Ask the network doctor',

  'live.live': 'Live',
  'live.connecting': 'Connecting',
  'live.lost': 'Connection lost since {time}',

  'tray.label': { one: 'Tasks, {count} running', other: 'Tasks, {count} running' },

  'operation.told_done': 'Ready: {name}',
  'operation.told_failed': 'Did not work out: {name}',

  'help.title': 'Keyboard shortcuts',

  'time.now': 'just now',
  'time.days_hours': '{days} d {hours} h',
  'time.hours_minutes': '{hours} h {minutes} min',
  'time.minutes': '{minutes} min',
  'time.seconds': '{seconds} s',

  'wait.starting': 'Starting',
  'wait.starting_text': 'The box is getting ready. This page goes on by itself.',
  'wait.joining': 'Joining',
  'wait.joining_text': 'The box receives what the others know. This page goes on by itself.',
  'wait.removed': 'This box was removed from its cluster',
  'wait.removed_text': 'To make it a new box, stop the service on it and run: samovard --factory-reset',
  'wait.unreachable': 'The box does not answer',
  'wait.unreachable_text': 'It may be restarting, or the network between here and the box is interrupted. This page keeps trying.',

  'missing.title': 'Not found',
  'missing.head': 'There is no such page',
  'missing.text': 'The link may be old or mistyped.',
  'missing.back': 'Go to the overview',

  'metric.power': 'Power',
  'metric.cpu': 'Processor',
  'metric.memory': 'Memory',
  'metric.temperature': 'Temperature',
  'metric.disk': 'Disk',
  'metric.network': 'Network',
  'metric.received': 'Received',
  'metric.sent': 'Sent',
  'metric.hottest': 'Hottest sensor',
  'metric.used': 'Used',
  'metric.used_of': '{used} used of {total}',
  'metric.of': 'of {total}',
  'metric.in': '{rate} in',
  'metric.out': '{rate} out',
  'metric.estimated_short': 'estimated',

  'range.from': 'From',
  'range.to': 'Until',
  'range.csv_done': 'Saved {name}',

  'node.state.up': 'Up',
  'node.state.unreachable': 'Unreachable',
  'node.state.draining': 'Draining',
  'node.state.removed': 'Removed',

  'chart.table': 'Table',
  'chart.time': 'Time',
  'chart.table_of': '{title}, values',
  'chart.empty': 'No values for this range yet',
  'chart.none': '{series}: no values.',
  'chart.latest': '{series}: {latest} now, between {min} and {max}.',
  'table.sort': 'Sort by {column}',
  'table.actions': 'Actions',

  'user.username': 'User name',

  'users.add': 'Add user',

  'settings.download_ca': 'Download certificate',

  'problem.unknown': 'Something went wrong. Try again.',
  'problem.trace': 'If it stays, give support this number: {trace}',
  'problem.unreachable': 'The box does not answer. Check the network and try again.',
  'problem.cancelled': 'Cancelled.',
  'problem.csrf': 'This page is out of date. Reload it and try again.',
  'problem.precondition_failed': 'Somebody else changed this in the meantime. Reload and try again.',
} satisfies Messages;
