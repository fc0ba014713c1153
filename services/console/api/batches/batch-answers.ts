import { isOver, isPaused, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { LineError } from '#shared/accounts/batches/line-result.ts';
import { toDollars } from '#shared/accounts/money.ts';
import type { Batch, BatchDetails, Owner } from '../../contract/batches.ts';
import { mayDo, type Person } from '../access.ts';
import { asMemberIfOwner, findResourceOwner } from './resource-owners.ts';

const maxProblems = 20;

/** Converts a batch into the API's answer, which says what the person may do with the batch. */
export function toBatchAnswer(batch: BatchRecord, owner: Owner, person: Person): Batch {
  const { id, endpoint, path, model, state, createdAt, runningAt, endedAt, failedAt, expiresAt, cancelledAt } = batch;
  const { total, succeeded, errored, cancelled, expired, outputFile, errorFile } = batch;
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, cost, pausedUntil, pausedFor = '' } = batch;
  const resourceOwner = findResourceOwner(person, batch.owner);
  const endTime = endedAt ?? failedAt;
  return {
    id,
    owner,
    endpoint: endpoint ?? path,
    ...(model !== undefined && { model }),
    state,
    createdAt,
    ...(runningAt !== undefined && { runningAt }),
    ...(endTime !== undefined && { endedAt: endTime }),
    expiresAt,
    ...(cancelledAt !== undefined && { cancelledAt }),
    total,
    succeeded,
    errored,
    cancelled,
    expired,
    promptTokens,
    cachedTokens,
    completionTokens,
    reasoningTokens,
    cost: toDollars(cost),
    ...(pausedUntil !== undefined && isPaused(batch) && { paused: { reason: pausedFor, until: pausedUntil } }),
    ...(outputFile !== undefined && { outputFile }),
    ...(errorFile !== undefined && { errorFile }),
    mayCancel: !isOver(batch) && cancelledAt === undefined && mayDo('batch.cancel', person, resourceOwner),
    mayRead: mayDo('file.read', asMemberIfOwner(person, resourceOwner), resourceOwner),
  };
}

/** Converts a batch as `toBatchAnswer` does, and adds the errors of its input and of its first failed lines. */
export function toBatchDetails(
  batch: BatchRecord,
  owner: Owner,
  person: Person,
  firstErrors: readonly LineError[],
): BatchDetails {
  const { inputFile, metadata = {}, problems = [] } = batch;
  const answer = toBatchAnswer(batch, owner, person);
  return {
    ...answer,
    inputFile,
    metadata: answer.mayRead ? metadata : {},
    problems: problems.slice(0, maxProblems).map(({ code, message, line }) => ({
      code,
      ...(answer.mayRead && { message }),
      ...(line !== undefined && { line }),
    })),
    firstErrors: firstErrors.map(({ code, line }) => ({ code, ...(line !== undefined && { line }) })),
  };
}
