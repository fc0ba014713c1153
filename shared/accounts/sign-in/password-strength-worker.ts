import { parentPort, workerData } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonWords } from '@zxcvbn-ts/language-common';
import { dictionary as englishWords, translations } from '@zxcvbn-ts/language-en';

export interface PasswordStrengthInput {
  password: string;
  /** The person's name and e-mail address. */
  known: readonly string[];
}

/** The result of the thread. `weakness` is undefined for a password that is strong enough. */
export interface PasswordStrengthResult {
  weakness: string | undefined;
}

/** Characters of a password that are judged. The work grows with the square of their number. A password is no weaker than its start. */
const judgedLength = 64;

/** The minimum of a score from 0 to 4. A password with a score of 3 withstands somebody who has the hashes for some time. */
const minScore = 3;

const { password, known } = workerData as PasswordStrengthInput;
const judge = new ZxcvbnFactory({
  dictionary: { ...commonWords, ...englishWords },
  graphs: adjacencyGraphs,
  translations,
});
const words = known.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word.length > 1);
const { score, feedback } = judge.check(password.slice(0, judgedLength), words);
const reasons = [feedback.warning ?? 'This password is easy to guess.', ...feedback.suggestions];
const judgement: PasswordStrengthResult = { weakness: score >= minScore ? undefined : reasons.join(' ') };
parentPort?.postMessage(judgement, []);
