import { z } from 'zod';
import { findRecordingSwitch } from '#shared/accounts/keys/key-record.ts';
import type { StoredRecording, WholeRecording } from '#shared/accounts/recordings/recording.ts';
import type { RecordingFilter, RecordingPlace } from '#shared/accounts/recordings/recordings.ts';
import { recordingSchema, recordingSwitchSchema, wholeRecordingSchema } from '../../contract/recordings.ts';
import type { Actor } from '../actor.ts';
import { notFound } from '../api-failure.ts';
import { writeAudit } from '../api-parts.ts';
import { ownerText } from '../batches/resource-owners.ts';
import { exportRecords, jsonFile } from '../export-records.ts';
import { fileOperation, listOperation, operation, type Operation } from '../operations/operation.ts';
import { byName, cutPage, requireCursor, timedCursor, type Order } from '../operations/page.ts';
import { isSentBy, filterVisible, findVisibleParties } from './recording-access.ts';
import { toRecordingAnswers, toWholeAnswers } from './recording-answers.ts';
import type { RecordingParts } from './recording-parts.ts';
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
const oneQuery = z.object({
  storedAs: id.describe('`storedAs` of the recording. Absent: the newest recording with the id.'),
});

const requestId = /^[\w.:-]{1,128}$/;
const keptTimeCursor: Pick<Order<never>, 'form'> = { form: /^\d{16}\.[\w-]{1,40}\/[\w.:-]{1,128}$/ };

const bySwitch = byName<{ of: string; id: string }>('switch', ({ of, id: each }) => `${of}:${each}`);

/**
 * The number of recordings that an export lists at once. Their content is read and written one by one, because one recording may have
 * megabytes.
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
        'Lists the person’s keys and teams, and keys of these teams, whose requests are recorded, with who has switched recording on.',
      scopes: ['read', 'keys'],
      command: 'recordings switches',
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
      query: listQuery,
      item: recordingSchema,
      isEndless: true,
      handle: async ({ actor, query }, { limit, cursor }) => {
        requireCursor(cursor, keptTimeCursor);
        if (query.request !== undefined) {
          const found = requestId.test(query.request) ? filterVisible(actor, await store.find(query.request)) : [];
          return { data: await toRecordingAnswers(parts, found), next: undefined };
        }
        const { recordings, next } = await store.list(toFilter(actor, query), limit, parseCursor(cursor));
        return {
          data: await toRecordingAnswers(parts, recordings),
          next: next && timedCursor(next.keptAt, next.member),
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
        // The export is recorded before anything is written, so that nobody reads recordings without an entry in the audit trail.
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
      query: oneQuery,
      answer: wholeRecordingSchema,
      handle: async ({ actor, params, query }) => {
        const found = await find(actor, params.id, query.storedAs);
        const whole = await store.readContent(found);
        if (!whole) throw notFound();
        if (!isSentBy(actor, found.facts)) await auditRecording('recording.read', actor, found);
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
      query: oneQuery,
      handle: async ({ actor, params, query }) => {
        const found = await find(actor, params.id, query.storedAs);
        if (!(await store.delete(found))) throw notFound();
        await auditRecording('recording.delete', actor, found);
      },
    }),
  ];

  async function listSwitches({ id: personId, teams }: Actor) {
    const [found, keys] = await Promise.all([
      accounts.teams.findAll([...teams.keys()]),
      Promise.all([personId, ...teams.keys()].map((owner) => accounts.keys.listOfOwner(owner))),
    ]);
    const usable = keys.flat().filter(({ revokedAt }) => revokedAt === undefined);
    const recordedKeys = usable.flatMap(({ id: key, name, ...facts }) => {
      const switched = findRecordingSwitch(facts);
      return switched?.of === 'key' ? [{ id: key, name, switched }] : [];
    });
    const recordedTeams = found.flatMap(({ id: team, name, records }) =>
      records ? [{ id: team, name, switched: { ...records, of: 'team' as const } }] : [],
    );
    const all = [...recordedTeams, ...recordedKeys];
    const names = await accounts.users.readNames([...new Set(all.map(({ switched }) => switched.by))]);
    return all.map(({ switched, ...each }) => ({ ...each, ...toStateAnswer(switched, names), traced: isTraced }));
  }

  /**
   * Returns a recording that a person may see.
   * @throws ApiFailure 404
   */
  async function find(actor: Actor, request: string, storedAs: string | undefined): Promise<StoredRecording> {
    if (!requestId.test(request)) throw notFound();
    const visible = filterVisible(actor, await store.find(request));
    const found = visible.find(({ owner }) => storedAs === undefined || owner === storedAs);
    if (!found) throw notFound();
    return found;
  }

  async function* readWhole(filter: RecordingFilter): AsyncGenerator<WholeRecording> {
    let place: RecordingPlace | undefined;
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

function parseCursor(cursor: string | undefined): RecordingPlace | undefined {
  if (cursor === undefined) return undefined;
  const dot = cursor.indexOf('.');
  return { keptAt: Number(cursor.slice(0, dot)), member: cursor.slice(dot + 1) };
}
