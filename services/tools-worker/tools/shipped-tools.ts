import type { ToolSource } from '../name-tools.ts';
import { calculator } from './calculator/calculator.ts';
import { currentTime } from './current-time.ts';
import { httpFetch } from './http-fetch.ts';

/** The tools of every tools worker. They are safe without settings. */
export const shippedTools: ToolSource = {
  prefix: undefined,
  tools: [currentTime(), calculator(), httpFetch()],
  available: true,
};
