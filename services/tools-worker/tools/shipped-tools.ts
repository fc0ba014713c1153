import type { ToolSource } from '../name-tools.ts';
import { calculator } from './calculator/calculator.ts';
import { currentTime } from './current-time.ts';
import { httpFetch } from './http-fetch.ts';

/** The tools that every tools worker has. They are safe without any settings. */
export const shippedTools: ToolSource = {
  prefix: undefined,
  tools: [currentTime(), calculator(), httpFetch()],
  available: true,
};
