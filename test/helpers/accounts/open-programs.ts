import { randomBytes } from 'node:crypto';
import { Programs, type TokenOutcome } from '#shared/accounts/programs/programs.ts';
import type { TeamRecord } from '#shared/accounts/people/team-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { makeAdmin, openKeyStore, type OpenKeyStore } from './open-key-store.ts';

/** The programs of a cluster with one person, Ada, for the running test. */
export interface OpenPrograms extends OpenKeyStore {
  programs: Programs;
  ada: UserRecord;
  /** A team that Ada is in. */
  team: TeamRecord;
  /** Another node of the same cluster. */
  addNode: (options?: NodeOptions) => Programs;
  /** Signs a program in for Ada. */
  signIn: (teamId?: string) => Promise<Extract<TokenOutcome, { state: 'issued' }>>;
}

export interface NodeOptions {
  /** Default: the cluster's. */
  secrets?: readonly Uint8Array[];
  /** What its accounts are read with. Default: the test's own connection. */
  store?: Pick<OpenKeyStore, 'accounts' | 'connection'>;
}

/** @param url of Redis */
export async function openPrograms(url: string): Promise<OpenPrograms> {
  const open = await openKeyStore(url);
  const secret = randomBytes(32);
  const { teams } = open.accounts;
  const addNode = ({ secrets = [secret], store = open }: NodeOptions = {}): Programs =>
    new Programs(store.connection.redis, open.prefix, {
      ...store.accounts,
      secrets: () => secrets,
      report: (record) => open.unreadable.push(record),
    });
  const programs = addNode();
  const ada = await makeAdmin(open);
  const team = await teams.create('Research');
  await teams.setMember(team.id, ada.id, 'member');
  let signIns = 0;
  const signIn = async (teamId?: string) => {
    const { deviceCode, userCode } = await programs.devices.begin({
      client: 'a test',
      address: `192.0.2.${signIns++}`,
    });
    await programs.devices.approve(userCode, ada, teamId);
    return issued(await programs.claim(deviceCode));
  };
  return { ...open, programs, ada, team, addNode, signIn };
}

/** @throws an Error unless tokens were issued */
export function issued(outcome: TokenOutcome): Extract<TokenOutcome, { state: 'issued' }> {
  if (outcome.state !== 'issued') throw new Error(`no tokens: ${outcome.state}`);
  return outcome;
}
