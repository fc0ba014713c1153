import type { StoredRecording, WholeRecording } from '#shared/accounts/recordings/recording.ts';
import type { Recording, RecordingWithContent } from '../../contract/recordings.ts';
import { findOwners } from '../batches/resource-owners.ts';
import type { ApiParts } from '../api-parts.ts';

export type RecordingParts = Pick<ApiParts, 'accounts' | 'log' | 'recordings'>;

const textType = /^(?:text\/|application\/(?:[\w.-]+\+)?json\b)/;

/** Converts recorded requests into the API's answers, without their content. */
export async function toRecordingAnswers(
  { accounts, recordings: { store } }: RecordingParts,
  found: readonly StoredRecording[],
): Promise<Recording[]> {
  const partyOf = ({ facts: { owner, key } }: StoredRecording): string => owner?.id ?? key.id;
  const nameOf = await findOwners(accounts, found.map(partyOf));
  return found.map((recording) => ({
    ...recording.facts,
    storedAs: recording.owner,
    expiresAt: recording.keptAt + store.keepMs,
    recordedBy: nameOf(partyOf(recording)).name,
  }));
}

/** Converts recorded requests as `toRecordingAnswers` does, and adds their content. */
export async function toWholeAnswers(
  parts: RecordingParts,
  found: readonly WholeRecording[],
): Promise<RecordingWithContent[]> {
  const answers = await toRecordingAnswers(parts, found);
  return answers.map((answer, index) => {
    const { request, answer: bytes } = found[index] ?? { request: Buffer.alloc(0), answer: Buffer.alloc(0) };
    const answerEncoding = answer.contentType === undefined || textType.test(answer.contentType) ? 'utf8' : 'base64';
    return { ...answer, request: request.toString(), answer: bytes.toString(answerEncoding), answerEncoding };
  });
}
