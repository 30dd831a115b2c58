// What the votes of a cluster allow: who is up, how many more may fail, and whether this side may still write.
import type { BoxNode } from './types';

export interface Strength {
  total: number; // members, whether they are up or not
  up: number;
  mayFail: number; // voters, before nothing can be saved any more
  minority: boolean; // already so
}

export function strength(nodes: Iterable<BoxNode>): Strength {
  const members = [...nodes].filter((node) => node.state !== 'removed');
  const isUp = (node: BoxNode): boolean => node.state !== 'unreachable';
  const voters = members.filter((node) => node.voice !== 'standby');
  const majority = Math.floor(voters.length / 2) + 1;
  const spare = voters.filter(isUp).length - majority;
  return { total: members.length, up: members.filter(isUp).length, mayFail: Math.max(0, spare), minority: voters.length > 0 && spare < 0 };
}
