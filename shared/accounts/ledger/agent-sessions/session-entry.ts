import { findBeginning, toPeriodName } from '../../periods.ts';
import type { UsageRecord } from '../usage-record.ts';
import { toKeyWithOwner, computeSessionId, toSessionOwner, type SessionOwner } from './session-names.ts';
import {
  addSums,
  encodeSumsRow,
  otherAgentsId,
  pickModelSums,
  createZeroSums,
  toSubstituteRow,
  sumLetters,
  sumNames,
  computeSums,
  type SessionSums,
  type SumsRow,
} from './session-sums.ts';

/** The script that defines `writeSessions`. It is prepended to the script of the ledger. */
export const sessionScript = new URL('lua/sessions.lua', import.meta.url);

/**
 * Maximum numbers: an owner's sessions, all sessions, a session's turns, a session's agents that are counted separately, the fields of a
 * session's sums, and the fields of a day's sums.
 */
const maxima = { ofOwner: 500, all: 10_000, turns: 500, agents: 100, fields: 300, dayFields: 2_000 };

const dayMs = 86_400_000;

interface RowSums {
  row: SumsRow;
  sums: SessionSums;
}

/** The sums of each row, by the encoded row. */
type Rows = Map<string, RowSums>;

/** The description of an agent of a session, stored beside its sums. */
export interface StoredAgent {
  parent?: string | undefined;
  type?: string | undefined;
  /** When the agent's first turn began, in ms since 1970. */
  at: number;
}

/** The change that turns make to an agent: its description (undefined for the main agent), the time of its last turn, and sums. */
interface AgentChange {
  facts: StoredAgent | undefined;
  /** In ms since 1970. */
  last: number;
  sums: SessionSums;
}

interface SessionEntry {
  id: string;
  owner: SessionOwner;
  facts: Record<string, string>;
  /** When the first turn began, in ms since 1970. */
  first: number;
  /** When the last turn began, in ms since 1970. */
  last: number;
  day: string;
  rows: Rows;
  /** By agent id; the id of the main agent is empty. */
  agents: Map<string, AgentChange>;
  /** Positions of the turns among the records; the first record has position 1. */
  turns: number[];
}

interface DayEntry {
  owner: SessionOwner;
  day: string;
  rows: Rows;
}

/**
 * Returns the arguments with which `writeSessions` writes the turns among finished requests; undefined if there are no turns.
 * @param keptMs milliseconds for which a session is kept after its last turn; with 0, no session is kept
 */
export function toAgentSessionArgs(records: readonly UsageRecord[], keptMs: number): object | undefined {
  if (keptMs === 0) return undefined;
  const entries = new Map<string, SessionEntry>();
  const days = new Map<string, DayEntry>();
  for (const [index, record] of records.entries())
    if (record.turn) addTurn(entries, days, record, record.turn, index + 1);
  if (entries.size === 0) return undefined;
  return {
    maxima,
    keptMs,
    // One day longer, because the sums of a day are kept for `keptMs` after the end of the day.
    dayKeptMs: keptMs + dayMs,
    oldest: Date.now() - keptMs,
    letters: sumNames.map((name) => sumLetters[name]),
    all: encodeSumsRow({ kind: 'all' }),
    others: otherAgentsId,
    days: Array.from(days.values(), ({ rows, ...day }) => ({ ...day, rows: toRowArgs(rows) })),
    entries: Array.from(entries.values(), ({ rows, agents, ...entry }) => ({
      ...entry,
      rows: toRowArgs(rows),
      agents: Array.from(agents, ([agent, { facts, last, sums }]) => ({
        agent,
        facts: facts && JSON.stringify(facts),
        last,
        counts: toCounts(sums),
      })),
    })),
  };
}

function toRowArgs(rows: Rows) {
  return Array.from(rows, ([text, { row, sums }]) => ({
    row: text,
    substitute: encodeSumsRow(toSubstituteRow(row)),
    counts: toCounts(sums),
  }));
}

function toCounts(sums: SessionSums): number[] {
  return sumNames.map((name) => sums[name]);
}

function addTurn(
  entries: Map<string, SessionEntry>,
  days: Map<string, DayEntry>,
  record: UsageRecord,
  turn: NonNullable<UsageRecord['turn']>,
  position: number,
): void {
  const { at, model = record.asked, rule = '', tier = '' } = record;
  const { program, session, agent = '', parent, type } = turn;
  const party = toKeyWithOwner(record);
  const owner = toSessionOwner(party);
  const id = computeSessionId(owner, session);
  const day = toPeriodName('day', findBeginning('day', at));
  let entry = entries.get(id);
  if (!entry) {
    const facts = { owner, name: session, program, key: party.key };
    const empty = { rows: new Map<string, RowSums>(), agents: new Map<string, AgentChange>(), turns: [] };
    entries.set(id, (entry = { id, owner, facts, first: at, last: at, day, ...empty }));
  }
  let dayEntry = days.get(`${owner} ${day}`);
  if (!dayEntry) days.set(`${owner} ${day}`, (dayEntry = { owner, day, rows: new Map<string, RowSums>() }));
  entry.first = Math.min(entry.first, at);
  entry.last = Math.max(entry.last, at);
  entry.turns.push(position);
  const sums = computeSums(record);
  const modelSums = pickModelSums(sums);
  const servedRow: SumsRow = { kind: 'model', model, rule, tier };
  addRow(entry.rows, { kind: 'all' }, sums);
  addRow(entry.rows, servedRow, modelSums);
  addRow(dayEntry.rows, { kind: 'key', key: party.key }, sums);
  addRow(dayEntry.rows, servedRow, modelSums);
  let agentChange = entry.agents.get(agent);
  if (!agentChange) {
    const facts = agent === '' ? undefined : { parent, type, at };
    entry.agents.set(agent, (agentChange = { facts, last: at, sums: createZeroSums() }));
  }
  agentChange.last = Math.max(agentChange.last, at);
  addSums(agentChange.sums, sums);
}

function addRow(rows: Rows, row: SumsRow, sums: SessionSums): void {
  const text = encodeSumsRow(row);
  let rowSums = rows.get(text);
  if (!rowSums) rows.set(text, (rowSums = { row, sums: createZeroSums() }));
  addSums(rowSums.sums, sums);
}
