/**
 * Returns the names in Redis of everything that belongs to accounts. All names begin with the same prefix. Ids are random and never used
 * again. Secrets, such as the id of a sign-in session or the token of a link, are in names only as their SHA-256.
 *
 * - `key:<id>` hash, a KeyRecord, which expires after its owner is deleted; `keys` sorted set, all ids of keys of existing owners by
 *   creation time; `keys-of:<owner>` the same for the keys of a person or team; `key-uses` hash, key's id to the minute of the key's last
 *   use; `first-router-key` string
 * - `user:<id>` hash, a UserRecord; `users` sorted set by creation time; `user-emails` hash, address to id; `admins` set, the
 *   administrators who are not blocked; `teams-of:<user>` hash, team's id to role
 * - `team:<id>` hash, a TeamRecord; `teams` sorted set by creation time; `members-of:<team>` hash, user's id to role
 * - `invitation:<id>` hash that expires; `invitations` sorted set by expiry; `invitation-link:<hash>`, `password-link:<hash>` and
 *   `first-admin-link` strings that expire
 * - `box-invitation:<hash>` hash that expires, a BoxInvitation; `box-invitations` sorted set by expiry
 * - `session:<hash>` hash that expires, a sign-in session; `sessions-of:<user>` list of the person's newest sessions
 * - `sign-ins:<subject>` hash that expires; `sign-in-refusals` string that expires; `console-settings` hash
 * - `store-id` string, by which the store is recognised; `store-accepted` string that expires, the id that an operator has confirmed
 * - `audit-entry:<id>` hash that expires; `audit-index` sorted set of all entries, `audit-quota:<name>` of the entries of one quota;
 *   `audit-latest:<hash>` string that expires, the id of the latest entry of an action
 * - `connections-of:<user>` hash, server to an MCP account link (StoredMcpAccountLink); `connection-refresh:<user>:<server>`,
 *   `connection-attempt:<hash>` and `connection-attempts:<user>` strings that expire
 * - `external-accounts` hash, issuer and subject to a person's id; `external-account:<user>` hash, an ExternalAccount;
 *   `external-check:<user>` and `external-state:<hash>` strings that expire
 * - `second-factor:<user>` hash; `second-factor-set-up:<user>:<kind>` strings and `pending-sign-in:<hash>` hash that expire
 * - `device:<hash>` hash that expires; `user-code:<code>` string that expires; `devices-waiting` sorted set by expiry,
 *   `devices-waiting-from:<address>` the same for the devices at a network address
 * - `program:<id>` hash that expires, a Program; `programs-of:<user>` sorted set by creation time; `revoked-programs` sorted set by the
 *   time until which their access tokens may last
 * - `admin-token:<id>` hash that expires, an AdminTokenRecord; `admin-tokens` sorted set by creation time, `admin-tokens-of:<user>` the
 *   same for the tokens of a person, or of nobody; `admin-token-use:<id>` string that expires, the minute of the token's last use
 * - `name-lock:<hash>` string that expires, a lock for looking up or creating what has this name
 * - `signing-keys` hash, a key's id to the sealed key
 * - `registry-versions` sorted set, `<number>:<etag>` by number; `registry-version:<number>` hash
 * - `cluster-secret` string, if the operator sets no secret
 */
export function accountNames(prefix: string) {
  return {
    key: (id: string) => `${prefix}key:${id}`,
    keys: `${prefix}keys`,
    keysOf: (ownerId: string) => `${prefix}keys-of:${ownerId}`,
    keyUses: `${prefix}key-uses`,
    firstRouterKey: `${prefix}first-router-key`,
    user: (id: string) => `${prefix}user:${id}`,
    users: `${prefix}users`,
    userEmails: `${prefix}user-emails`,
    admins: `${prefix}admins`,
    teamsOf: (userId: string) => `${prefix}teams-of:${userId}`,
    team: (id: string) => `${prefix}team:${id}`,
    teams: `${prefix}teams`,
    membersOf: (teamId: string) => `${prefix}members-of:${teamId}`,
    invitation: (id: string) => `${prefix}invitation:${id}`,
    invitations: `${prefix}invitations`,
    invitationLink: (hash: string) => `${prefix}invitation-link:${hash}`,
    passwordLink: (hash: string) => `${prefix}password-link:${hash}`,
    firstAdminLink: `${prefix}first-admin-link`,
    boxInvitation: (hash: string) => `${prefix}box-invitation:${hash}`,
    boxInvitations: `${prefix}box-invitations`,
    session: (hash: string) => `${prefix}session:${hash}`,
    sessionsOf: (userId: string) => `${prefix}sessions-of:${userId}`,
    signIns: (subject: string) => `${prefix}sign-ins:${subject}`,
    signInRefusals: `${prefix}sign-in-refusals`,
    auditEntry: (id: string) => `${prefix}audit-entry:${id}`,
    auditIndex: `${prefix}audit-index`,
    auditQuota: (quota: string) => `${prefix}audit-quota:${quota}`,
    auditLatest: (hash: string) => `${prefix}audit-latest:${hash}`,
    settings: `${prefix}console-settings`,
    storeId: `${prefix}store-id`,
    storeAccepted: `${prefix}store-accepted`,
    connectionsOf: (userId: string) => `${prefix}connections-of:${userId}`,
    connectionRefresh: (userId: string, server: string) => `${prefix}connection-refresh:${userId}:${server}`,
    connectionAttempt: (hash: string) => `${prefix}connection-attempt:${hash}`,
    connectionAttempts: (userId: string) => `${prefix}connection-attempts:${userId}`,
    externalAccounts: `${prefix}external-accounts`,
    externalAccount: (userId: string) => `${prefix}external-account:${userId}`,
    externalCheck: (userId: string) => `${prefix}external-check:${userId}`,
    externalState: (hash: string) => `${prefix}external-state:${hash}`,
    secondFactor: (userId: string) => `${prefix}second-factor:${userId}`,
    secondFactorSetUp: (userId: string, kind: string) => `${prefix}second-factor-set-up:${userId}:${kind}`,
    pendingSignIn: (hash: string) => `${prefix}pending-sign-in:${hash}`,
    device: (hash: string) => `${prefix}device:${hash}`,
    userCode: (code: string) => `${prefix}user-code:${code}`,
    devicesWaiting: `${prefix}devices-waiting`,
    devicesWaitingFrom: (address: string) => `${prefix}devices-waiting-from:${address}`,
    program: (id: string) => `${prefix}program:${id}`,
    programsOf: (userId: string) => `${prefix}programs-of:${userId}`,
    revokedPrograms: `${prefix}revoked-programs`,
    signingKeys: `${prefix}signing-keys`,
    registryVersions: `${prefix}registry-versions`,
    registryVersion: (number: string) => `${prefix}registry-version:${number}`,
    adminToken: (id: string) => `${prefix}admin-token:${id}`,
    adminTokens: `${prefix}admin-tokens`,
    adminTokensOf: (ownerId: string) => `${prefix}admin-tokens-of:${ownerId}`,
    adminTokenUse: (id: string) => `${prefix}admin-token-use:${id}`,
    nameLock: (hash: string) => `${prefix}name-lock:${hash}`,
    clusterSecret: `${prefix}cluster-secret`,
  };
}

export type AccountNames = ReturnType<typeof accountNames>;
