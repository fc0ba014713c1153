import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import type { TeamRecord, TeamStore } from '../../people/team-store.ts';
import { isSignedIn, type UserRecord } from '../../people/user.ts';
import { createSecretUnknownError } from '#shared/store/secrets/owner-keys.ts';
import type { UserStore } from '../../people/user-store.ts';
import type { ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { UnconfirmedError, type Confirm, type Confirmation } from '../confirmation.ts';
import { AccessTokenVerifier } from './access-token-verifier.ts';
import { accessTokenMs, readAccessToken, signAccessToken, type ClaimedParty } from './access-tokens.ts';
import { DeviceCodes } from './device-codes.ts';
import { ProgramStore, type Program, type SignedOut } from './program-store.ts';
import { RefreshTokens, type RefreshToken } from './refresh-token.ts';
import { SigningKeys } from './signing-keys.ts';

export interface ProgramTokens {
  /** The e-mail address of the person who has signed the program in. */
  email: string;
  accessToken: string;
  /** Seconds until the access token expires. */
  expiresIn: number;
  refreshToken: string;
}

/** The outcome of a request for tokens. `ended` and `replayed`: the request signed the program out. */
export type TokenOutcome =
  | { state: 'issued'; tokens: ProgramTokens; programId: string; userId: string }
  | { state: 'ended' | 'replayed'; programId: string; userId: string }
  | { state: 'pending' | 'slow down' | 'denied' | 'expired' | 'unknown' };

/**
 * Announces a change to all nodes: `program:<id>` for a program that is signed out. `user:<id>` for a person with a program of which this
 * is not known, because the store did not reply; nodes then read the person and the signed-out programs again.
 */
export type AnnounceChange = (changed: string) => Promise<void>;

export interface ProgramsDependencies {
  /** Returns the secrets of the cluster, newest first; an empty list while they are not known. */
  secrets: () => readonly Uint8Array[];
  users: UserStore;
  teams: TeamStore;
  report: ReportUnreadable;
}

interface Parties {
  person: UserRecord;
  team: TeamRecord | undefined;
}

/**
 * The programs that people sign in by device flow, and their tokens. Every method throws `store_unavailable` while Redis is unavailable.
 */
export class Programs {
  readonly store: ProgramStore;
  readonly devices: DeviceCodes;
  readonly verifier: AccessTokenVerifier;
  readonly #keys: SigningKeys;
  readonly #refreshTokens: RefreshTokens;
  readonly #dependencies: ProgramsDependencies;
  #confirm: Confirm = async () => 'confirmed';

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, dependencies: ProgramsDependencies) {
    const { secrets, users, teams, report } = dependencies;
    this.#dependencies = dependencies;
    this.#keys = new SigningKeys(redis, prefix, secrets);
    this.#refreshTokens = new RefreshTokens(secrets);
    this.store = new ProgramStore(redis, prefix, report);
    this.devices = new DeviceCodes(redis, prefix);
    this.verifier = new AccessTokenVerifier({ keys: this.#keys, users, teams, programs: this.store });
  }

  /** Sets the check of a program's person at each claim and refresh. The program is signed out if `confirm` refuses the person. */
  setConfirm(confirm: Confirm): void {
    this.#confirm = confirm;
  }

  /**
   * Returns the tokens of a device whose sign-in is approved, or the state of the sign-in.
   * @param announce called for the programs that are signed out because the person has too many, and for the device's own program
   * @throws UnconfirmedError if the provider cannot tell whether it refuses the person; the program is then signed out
   */
  async claim(deviceCode: string, clientId?: string, announce?: AnnounceChange): Promise<TokenOutcome> {
    // Reading the key may fail, so it comes before the code is used up.
    await this.#keys.ensureCurrent();
    const outcome = await this.devices.claim(deviceCode, clientId);
    if (outcome.state !== 'approved') return outcome;
    const { programId, userId } = outcome;
    for (const signedOutId of outcome.signedOut) await announce?.(`program:${signedOutId}`);
    const program = await this.store.find(programId);
    const parties = program ? await this.#findParties(program) : 'refused';
    if (typeof parties === 'object') return this.#issue({ programId, generation: 0 }, parties);
    // The code is used up, and the program has no token for another try. So the person has to sign the program in again.
    const ended = await this.#signOut({ id: programId, userId }, announce);
    if (parties === 'unknown') throw new UnconfirmedError();
    return ended;
  }

  /**
   * Returns new tokens for a refresh token.
   * @throws UnconfirmedError if the provider cannot tell whether it refuses the person; the token can then be used again
   */
  async refresh(refreshToken: string, announce?: AnnounceChange): Promise<TokenOutcome> {
    const token = this.#readRefreshToken(refreshToken);
    if (!token) return { state: 'unknown' };
    await this.#keys.ensureCurrent();
    const { programId } = token;
    const program = await this.store.find(programId);
    if (!program) return { state: 'unknown' };
    // Asking the provider may take long, so it comes before the token is replaced. A client that stops waiting meanwhile still has the
    // newest token.
    const parties = await this.#findParties(program);
    if (parties === 'unknown') throw new UnconfirmedError();
    if (parties === 'refused') return this.#signOut(program, announce);
    const outcome = await announceSignOut(program, announce, () => this.store.refresh(token, program));
    if (outcome.state === 'unknown') return outcome;
    if (outcome.state === 'late') throw lateTokenError();
    if (outcome.state !== 'refreshed') return { ...outcome, programId };
    return this.#issue(outcome.token, parties);
  }

  /** Signs out the program that an access token or a refresh token belongs to. Returns undefined if there is no such program. */
  async signOut(token: string): Promise<(SignedOut & { programId: string }) | undefined> {
    const programId = await this.readProgramId(token);
    if (programId === undefined) return undefined;
    const signedOut = await this.store.signOut(programId, { generation: this.#readRefreshToken(token)?.generation });
    return signedOut && { ...signedOut, programId };
  }

  /** Returns the id of the program in an access token or a refresh token, signed in or not. Returns undefined for any other text. */
  async readProgramId(token: string): Promise<string | undefined> {
    return this.#readRefreshToken(token)?.programId ?? (await readAccessToken(this.#keys, token))?.sid;
  }

  close(): void {
    this.#keys.close();
  }

  /**
   * Returns the person and the team of a program. Returns `refused` if the person is refused or not in the team, and `unknown` if the
   * provider cannot be asked.
   */
  async #findParties(program: Program): Promise<Parties | Exclude<Confirmation, 'confirmed'>> {
    const { users, teams } = this.#dependencies;
    const { userId, teamId } = program;
    const personBefore = await users.find(userId);
    if (!isSignedIn(personBefore, program)) return 'refused';
    const confirmation = await this.#confirm(personBefore);
    if (confirmation !== 'confirmed') return confirmation;
    // The person is read again, because the confirmation may have taken long, and may have changed the record.
    const [person, team, members] = await Promise.all([
      users.find(userId),
      teamId === undefined ? undefined : teams.find(teamId),
      teamId === undefined ? undefined : teams.membersOf(teamId),
    ]);
    const isInTeam = teamId === undefined || (team && members?.has(userId) === true);
    return isSignedIn(person, program) && isInTeam ? { person, team } : 'refused';
  }

  #signOut(
    { id, userId }: Pick<Program, 'id' | 'userId'>,
    announce: AnnounceChange | undefined,
  ): Promise<TokenOutcome> {
    return announceSignOut({ id, userId }, announce, async () => {
      await this.store.signOut(id);
      return { state: 'ended', programId: id, userId };
    });
  }

  async #issue(token: RefreshToken, { person, team }: Parties): Promise<TokenOutcome> {
    const { programId } = token;
    const accessToken = await signAccessToken(this.#keys, {
      sub: person.id,
      sid: programId,
      epoch: person.epoch,
      user: toClaims(person),
      ...(team && { team: { ...toClaims(team), id: team.id } }),
    });
    const refreshToken = this.#refreshTokens.write(token);
    if (refreshToken === undefined) throw createSecretUnknownError();
    const tokens = { email: person.email, accessToken, expiresIn: accessTokenMs / 1_000, refreshToken };
    return { state: 'issued', tokens, programId, userId: person.id };
  }

  /** @throws RouterError `store_unavailable` while the secret of the cluster is not known */
  #readRefreshToken(refreshToken: string): RefreshToken | undefined {
    if (this.#dependencies.secrets().length === 0) throw createSecretUnknownError();
    return this.#refreshTokens.read(refreshToken);
  }
}

/**
 * Makes a change that may sign a program out, and announces the sign-out.
 * @returns the outcome of the change
 * @throws the errors of the change
 */
async function announceSignOut<Outcome extends { state: string }>(
  { id, userId }: Pick<Program, 'id' | 'userId'>,
  announce: AnnounceChange | undefined,
  change: () => Promise<Outcome>,
): Promise<Outcome> {
  let outcome: Outcome | undefined;
  try {
    outcome = await change();
    return outcome;
  } finally {
    // Nodes refuse a program that is announced as signed out, until its last token has expired. So only a known sign-out is announced.
    if (!outcome) await announce?.(`user:${userId}`);
    else if (outcome.state === 'ended' || outcome.state === 'replayed') await announce?.(`program:${id}`);
  }
}

function toClaims({ name, limits, weight, ceiling }: ClaimedParty): ClaimedParty {
  return { name, ...(limits && { limits }), ...(weight !== undefined && { weight }), ...(ceiling && { ceiling }) };
}

/**
 * The error for a token that was replaced after it was presented. The client, or another client with the same tokens, has a newer token.
 */
function lateTokenError(): RouterError {
  const message = 'The refresh token was replaced meanwhile. Try again with the newest one.';
  return new RouterError('store_unavailable', message, { retryAfter: 2 });
}
