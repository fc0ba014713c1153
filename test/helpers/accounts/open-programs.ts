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
  /** Has Ada approve the sign-in of a program. @returns its device code */
  approve: (options?: { teamId?: string; clientId?: string }) => Promise<string>;
  /** Signs a program in for Ada. */
  signIn: (teamId?: string) => Promise<IssuedTokens>;
  /** What comes of the refresh token of a program. */
  refresh: (of: Pick<IssuedTokens, 'tokens'>) => Promise<TokenOutcome>;
  /** The tokens that come of it. */
  renew: (of: Pick<IssuedTokens, 'tokens'>) => Promise<IssuedTokens>;
}

/** The tokens of a program. */
export type IssuedTokens = Extract<TokenOutcome, { state: 'issued' }>;

/** What a program asks with. */
export const asked = { client: 'Claude Code', address: '192.0.2.1' };

export interface NodeOptions {
  /** Default: the cluster's. */
  secrets?: readonly Uint8Array[];
  /** What its accounts are read with. Default: the test's own connection. */
  store?: Pick<OpenKeyStore, 'accounts' | 'connection'>;
}

export async function openPrograms(): Promise<OpenPrograms> {
  const open = await openKeyStore();
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
  let signIns = 1;
  const approve: OpenPrograms['approve'] = async ({ teamId, clientId } = {}) => {
    const from = { ...asked, address: `192.0.2.${signIns++}`, clientId };
    const { deviceCode, userCode } = await programs.devices.begin(from);
    await programs.devices.approve(userCode, ada, teamId);
    return deviceCode;
  };
  const signIn = async (teamId?: string) => issued(await programs.claim(await approve(teamId ? { teamId } : {})));
  const refresh: OpenPrograms['refresh'] = ({ tokens }) => programs.refresh(tokens.refreshToken);
  const renew: OpenPrograms['renew'] = async (of) => issued(await refresh(of));
  return { ...open, programs, ada, team, addNode, approve, signIn, refresh, renew };
}

/** @throws an Error unless tokens were issued */
export function issued(outcome: TokenOutcome): IssuedTokens {
  if (outcome.state !== 'issued') throw new Error(`no tokens: ${outcome.state}`);
  return outcome;
}
