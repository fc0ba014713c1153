import { z } from 'zod';
import { findRecordingSwitch, isUsable } from '#shared/accounts/keys/key-record.ts';
import type { StoredRecording, WholeRecording } from '#shared/accounts/recordings/recording.ts';
import type { RecordingFilter } from '#shared/accounts/recordings/recordings.ts';
import type { TimedPlace } from '#shared/store/redis/read-newest.ts';
import { recordingSchema, recordingSwitchSchema, wholeRecordingSchema } from '../../contract/recordings.ts';
import type { Actor } from '../actor.ts';
import { notFound } from '../api-failure.ts';
import { writeAudit } from '../api-parts.ts';
import { ownerText } from '../batches/resource-owners.ts';
import { exportRecords, jsonFile } from '../export-records.ts';
import { fileOperation, listOperation, operation, type Operation } from '../operations/operation.ts';
import { byName, cutPage, requireCursor, formatTimedCursor, parseTimedCursor, type Order } from '../operations/page.ts';
import { isSentBy, filterVisible, findVisibleParties } from './recording-access.ts';
import { toRecordingAnswers, toWholeAnswers, type RecordingParts } from './recording-answers.ts';
import { toStateAnswer } from './recording-state.ts';

const id = z.string().min(1).max(128).optional();
const filterQuery = z.object({
  owner: ownerText.optional(),
  key: id.describe('Id of a key.'),
  session: id.describe('Id of a session of a coding agent.'),
});
const listQuery = filterQuery.extend({
  request: id.describe('Id of a request. With it, the other filters and the cursor are ignored.'),
});
const recordingQuery = z.object({
  storedAs: id.describe('`storedAs` of the recording. Absent: the newest recording with the id.'),
});

const requestId = /^[\w.:-]{1,128}$/;
const keptTimeCursor: Pick<Order<never>, 'form'> = { form: /^\d{16}\.[\w-]{1,40}\/[\w.:-]{1,128}$/ };

const bySwitch = byName<{ of: string; id: string }>('switch', (each) => `${each.of}:${each.id}`);

/**
 * The number of recordings that an export lists at once. It reads and writes the content of one recording at a time, because a recording
 * may have megabytes.
 */
const recordingsPerRead = 100;

export function recordingOperations(parts: RecordingParts): Operation[] {
  const { accounts } = parts;
  const { store, isOn, isTraced } = parts.recordings;
  const subject = 'recordings';
  const recordingRoute = { path: '/recordings/{id}', subject, scopes: [] } as const;
  return [
    listOperation({
      path: '/recording-switches',
      id: 'listRecordingSwitches',
      subject,
      summary:
        'Lists what switches recording on for the person: their recorded keys and teams, the recorded keys of these teams, and who has switched each of them on.',
      scopes: ['read', 'keys'],
      command: 'recordings switches',
      form: { none: 'None of your requests are recorded.' },
      item: recordingSwitchSchema,
      handle: async ({ actor }, page) => cutPage(isOn ? await listSwitches(actor) : [], page, bySwitch),
    }),
    listOperation({
      path: '/recordings',
      id: 'listRecordings',
      subject,
      summary:
        'Lists the recorded requests that the person may see, newest first, without their content. A page may have fewer requests than `limit`.',
      scopes: ['read'],
      command: 'recordings list',
      form: {
        columns: [
          'at',
          'id',
          'recordedBy',
          'key.name',
          'model',
          'status',
          'end',
          'requestBytes',
          'answerBytes',
          'expiresAt',
        ],
        none: 'There are no recorded requests.',
        example: 'recordings list --owner team:Research',
      },
      query: listQuery,
      item: recordingSchema,
      isEndless: true,
      handle: async ({ actor, query }, { limit, cursor }) => {
        requireCursor(cursor, keptTimeCursor);
        if (query.request !== undefined) {
          const visible = requestId.test(query.request) ? filterVisible(actor, await store.find(query.request)) : [];
          return { data: await toRecordingAnswers(parts, visible), next: undefined };
        }
        const { recordings, next } = await store.list(toFilter(actor, query), limit, parseTimedCursor(cursor));
        return {
          data: await toRecordingAnswers(parts, recordings),
          next: next && formatTimedCursor(next.at, next.member),
        };
      },
    }),
    fileOperation({
      path: '/recordings/export',
      id: 'exportRecordings',
      subject,
      summary: 'Writes the recorded requests that the person may see as a file, with their content, newest first.',
      scopes: [],
      command: 'recordings export',
      query: filterQuery,
      files: ['application/json'],
      handle: async ({ actor, query, response }) => {
        const filter = toFilter(actor, query);
        // The audit entry is written before the file, so that nobody can read recordings without an entry in the audit trail.
        await writeAudit(parts, actor, {
          action: 'recording.export',
          target: { kind: 'recording', id: query.owner ?? 'all', name: '' },
          details: { ...query },
        });
        const file = { ...jsonFile('recordings.json'), recordsAtOnce: 1 };
        await exportRecords(response, file, readWhole(filter), (found) => toWholeAnswers(parts, found));
      },
    }),
    operation({
      ...recordingRoute,
      method: 'get',
      id: 'getRecording',
      summary:
        'Returns a recorded request with its content, by the id of the request. Reading a request that was not sent with a key of the person is written into the audit trail.',
      command: 'recordings show',
      query: recordingQuery,
      answer: wholeRecordingSchema,
      handle: async ({ actor, params, query }) => {
        const recording = await find(actor, params.id, query.storedAs);
        const whole = await store.readContent(recording);
        if (!whole) throw notFound();
        if (!isSentBy(actor, recording.facts)) await auditRecording('recording.read', actor, recording);
        const [answer] = await toWholeAnswers(parts, [whole]);
        if (!answer) throw notFound();
        return answer;
      },
    }),
    operation({
      ...recordingRoute,
      method: 'delete',
      id: 'deleteRecording',
      summary: 'Deletes a recorded request.',
      command: 'recordings delete',
      form: { done: 'The recording of {recording} is deleted.' },
      query: recordingQuery,
      handle: async ({ actor, params, query }) => {
        const recording = await find(actor, params.id, query.storedAs);
        if (!(await store.delete(recording))) throw notFound();
        await auditRecording('recording.delete', actor, recording);
      },
    }),
  ];

  async function listSwitches({ id: personId, teams }: Actor) {
    const [found, keys] = await Promise.all([
      accounts.teams.findAll([...teams.keys()]),
      Promise.all([personId, ...teams.keys()].map((owner) => accounts.keys.listOfOwner(owner))),
    ]);
    const now = Date.now();
    const usableKeys = keys.flat().filter((key) => isUsable(key, now));
    const recordedKeys = usableKeys.flatMap(({ id: key, name, ...facts }) => {
      const switched = findRecordingSwitch(facts);
      return switched?.of === 'key' ? [{ id: key, name, switched }] : [];
    });
    const recordedTeams = found.flatMap(({ id: team, name, records }) =>
      records ? [{ id: team, name, switched: { ...records, of: 'team' as const } }] : [],
    );
    const recorded = [...recordedTeams, ...recordedKeys];
    const names = await accounts.users.readNames([...new Set(recorded.map(({ switched }) => switched.by))]);
    return recorded.map(({ switched, ...each }) => ({ ...each, ...toStateAnswer(switched, names), traced: isTraced }));
  }

  /**
   * Finds a recording.
   * @throws ApiFailure 404 if it does not exist or the actor may not see it
   */
  async function find(actor: Actor, request: string, storedAs: string | undefined): Promise<StoredRecording> {
    if (!requestId.test(request)) throw notFound();
    const visible = filterVisible(actor, await store.find(request));
    const recording = visible.find(({ owner }) => storedAs === undefined || owner === storedAs);
    if (!recording) throw notFound();
    return recording;
  }

  async function* readWhole(filter: RecordingFilter): AsyncGenerator<WholeRecording> {
    let place: TimedPlace | undefined;
    do {
      const { recordings, next } = await store.list(filter, recordingsPerRead, place);
      for (const each of recordings) {
        const whole = await store.readContent(each);
        if (whole) yield whole;
      }
      place = next;
    } while (place !== undefined);
  }

  function auditRecording(action: string, actor: Actor, { facts }: StoredRecording): Promise<void> {
    const { owner, key } = facts;
    const target = { kind: 'recording', id: facts.id, name: '' };
    const details = { kind: owner?.kind ?? 'router', ownerId: owner?.id, key: key.id };
    return writeAudit(parts, actor, { action, target, details, ofTeam: owner?.kind === 'team' });
  }
}

function toFilter(actor: Actor, { owner, key, session }: z.output<typeof filterQuery>): RecordingFilter {
  const visible = findVisibleParties(actor);
  const requestedOwner = owner as `user:${string}` | undefined;
  const parties =
    requestedOwner === undefined ? visible : !visible || visible.includes(requestedOwner) ? [requestedOwner] : [];
  return { parties, key, session };
}
