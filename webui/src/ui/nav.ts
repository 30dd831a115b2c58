// The pages of the navigation and who sees them. The box enforces the same; this only avoids dead ends.
import type { MessageKey } from '../lib/messages';
import type { Role } from '../lib/types';
import type { IconName } from './Icon';

interface NavItem {
  href: string;
  label: MessageKey;
  icon: IconName;
  roles?: readonly Role[];
}

const all: readonly NavItem[] = [
  { href: '/', label: 'nav.overview', icon: 'overview' },
  { href: '/nodes', label: 'nav.nodes', icon: 'nodes' },
  { href: '/power', label: 'metric.power', icon: 'power' },
  { href: '/datasets', label: 'nav.datasets', icon: 'disk' },
  { href: '/jobs', label: 'nav.jobs', icon: 'chart', roles: ['admin', 'analyst', 'viewer', 'auditor'] },
  { href: '/models', label: 'nav.models', icon: 'model', roles: ['admin', 'analyst', 'viewer', 'auditor'] },
  { href: '/users', label: 'nav.users', icon: 'users', roles: ['admin', 'auditor'] },
  { href: '/tokens', label: 'nav.tokens', icon: 'key' },
  { href: '/sessions', label: 'nav.sessions', icon: 'devices' },
  { href: '/audit', label: 'nav.audit', icon: 'audit', roles: ['admin', 'auditor', 'analyst'] },
  { href: '/settings', label: 'nav.settings', icon: 'settings', roles: ['admin', 'auditor'] },
];

export function navItems(role: Role | null): readonly NavItem[] {
  return all.filter((item) => !item.roles || (role !== null && item.roles.includes(role)));
}
