// The calls about the power budget, over the one door in api.ts.
import { json, tagged } from './api';
import type * as C from './types-cluster';

export const getPower = () => json<C.Power>('GET', '/power');
export const getPowerSettings = () => tagged<C.PowerSettings>('GET', '/settings/power');
export const putPowerSettings = (settings: C.PowerSettings, etag: string) => tagged<C.PowerSettings>('PUT', '/settings/power', { body: settings, ifMatch: etag });
