import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonWords } from '@zxcvbn-ts/language-common';
import { dictionary as englishWords, translations } from '@zxcvbn-ts/language-en';

export interface PasswordStrengthInput {
  password: string;
  /** The person's name and e-mail address. */
  personTexts: readonly string[];
}

/** The result of the thread. `weakness` is undefined for a password that is strong enough. */
export interface PasswordStrengthResult {
  weakness: string | undefined;
}

/** Characters of a password that are checked. The work grows with the square of their number. A password is no weaker than its start. */
const checkedLength = 64;

/** The minimum score of a password, from 0 to 4. With a score of 3, it withstands an attacker who has its hash for some time. */
const minScore = 3;

const estimator = new ZxcvbnFactory({
  dictionary: { ...commonWords, ...englishWords },
  graphs: adjacencyGraphs,
  translations,
});

parentPort?.on('message', ({ password, personTexts }: PasswordStrengthInput) => {
  const personWords = personTexts
    .flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)])
    .filter((word) => word.length > 1);
  const { score, feedback } = estimator.check(password.slice(0, checkedLength), personWords);
  const reasons = [feedback.warning ?? 'This password is easy to guess.', ...feedback.suggestions];
  const result: PasswordStrengthResult = { weakness: score >= minScore ? undefined : reasons.join(' ') };
  parentPort?.postMessage(result, []);
});
