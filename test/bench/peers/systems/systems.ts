import { direct } from './direct.ts';
import { express } from './express.ts';
import { litellm } from './litellm.ts';
import { nginx } from './nginx.ts';
import { portkey } from './portkey.ts';
import { rtr } from './rtr.ts';
import { smg } from './smg.ts';
import type { SystemKind } from './system.ts';

export const systems: readonly SystemKind[] = [direct, nginx, express, portkey, litellm, smg, rtr];

/** Systems that the documentation names as not compared, and why. */
export const notCompared: readonly { title: string; why: string }[] = [
  { title: 'Bifrost', why: 'its program is downloaded by its npm package from a place that was not in reach' },
];
