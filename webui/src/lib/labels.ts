// Boxes fresh from their makers often share one host name. Where two members do, each is called by the beginning of its
// identity, too, which is also what its screen shows.
import type { BoxNode } from './types';

export function labelled(list: Iterable<BoxNode>): BoxNode[] {
  const all = [...list];
  const given = (node: BoxNode): string => node.given ?? node.name;
  const often = new Map<string, number>();
  for (const node of all) if (node.state !== 'removed') often.set(given(node), (often.get(given(node)) ?? 0) + 1);
  return all.map((node) => {
    if ((often.get(given(node)) ?? 0) > 1) return { ...node, given: given(node), name: `${given(node)} ${node.id.slice(0, 4).toUpperCase()}` };
    return node.given ? { ...node, name: node.given, given: undefined } : node;
  });
}
