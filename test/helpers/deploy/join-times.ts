import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a person waits for, with the words of the README's table. */
export const joinSteps = {
  firstStart: '`rtr up`, the first time: the package is installed, Node 24 is fetched, a key is made',
  nextStart: '`rtr up`, installed',
  boxJoins: 'the line of an invitation on a box: installed, joined, its engine serves',
  revoked: 'a box that is revoked says so and ends',
};

export type JoinStep = keyof typeof joinSteps;

const file = join(import.meta.dirname, 'join-times.json');

/** The seconds of each step in the run that the README shows. */
export function keptJoinTimes(): Partial<Record<JoinStep, number>> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<JoinStep, number>>) : {};
}

export function keepJoinTimes(seconds: Partial<Record<JoinStep, number>>): void {
  const rounded = Object.entries(seconds).map(([step, value]) => [step, Math.round(value * 10) / 10]);
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(rounded), undefined, 2)}\n`);
}
