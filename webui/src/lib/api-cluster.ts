// The calls about the boxes of a cluster, over the one door in api.ts.
import { json, none } from './api';
import type { BoxNode } from './types';
import type * as C from './types-cluster';

const id = encodeURIComponent;

// --- Members
export const getRemoval = (node: string) => json<C.Removal>('GET', `/nodes/${id(node)}:removal`);
export const drainNode = (node: string) => none('POST', `/nodes/${id(node)}:drain`, { body: {} });
export const resumeNode = (node: string) => none('POST', `/nodes/${id(node)}:resume`, { body: {} });
// With force: as many files as whoever asks was told of may be lost, and no more.
export const removeNode = (node: string, force: boolean, lossesMax: number) =>
  none('DELETE', `/nodes/${id(node)}`, { query: force ? { force: 1, losses_max: lossesMax } : {} });

// --- Boxes that might become members
export const getPeers = () => json<C.Peers>('GET', '/peers');
export const addPeer = (address: string) => json<C.Peer>('POST', '/peers:add', { body: { address } });
export const approvePeer = (peer: string, password: string) => json<C.Join>('POST', `/peers/${id(peer)}:approve`, { body: { password } });
export const confirmPeer = (peer: string, code: string) => json<BoxNode>('POST', `/peers/${id(peer)}:confirm`, { body: { code } });
export const cancelPeer = (peer: string) => none('POST', `/peers/${id(peer)}:cancel`, { body: {} });
export const blockPeer = (peer: string) => none('POST', `/peers/${id(peer)}:block`, { body: {} });
export const unblockPeer = (peer: string) => none('POST', `/peers/${id(peer)}:unblock`, { body: {} });
export const invite = (password: string) => json<C.Invitation>('POST', '/peers:invite', { body: { password } });

// --- The network between them
export const getDoctor = () => json<C.Doctor>('GET', '/doctor');
export const probe = (address: string) => json<{ checks: C.Check[] }>('POST', '/doctor:probe', { body: { address } });
export const getLinks = () => json<{ links: C.Link[] }>('GET', '/links');
export const testLink = (to: string) => json<C.Link>('POST', '/links:test', { body: { to } });
