import { describe, expect, it } from 'vitest';
import { readPerson } from '#services/console/api/oidc/read-person.ts';
import { signInSchema, type SignInProvider } from '#shared/registry/sign-in.ts';

const written = { name: 'company', issuer: 'https://login.example.com', client_id: 'rtr', domains: ['Example.com'] };

function providerWith(more: object = {}): SignInProvider {
  const [provider] = signInSchema.parse({ providers: [{ ...written, ...more }] }).providers;
  if (!provider) throw new Error('no provider');
  return provider;
}

const grace = { sub: '1', name: 'Grace', email: 'Grace@example.COM', email_verified: true };

describe('a person from an identity provider', () => {
  it('has an address in the form in which addresses are compared', () => {
    expect(readPerson(providerWith(), grace)).toMatchObject({ email: 'grace@example.com', name: 'Grace' });
    expect(readPerson(providerWith(), { ...grace, name: 'a\u202Eb' })).toMatchObject({ name: 'grace@example.com' });
  });

  it('needs a verified address, unless the provider is trusted to have verified every address that it does not mark', () => {
    const { email_verified: _, ...silent } = grace;
    const trusting = providerWith({ trust_email: true });
    expect(readPerson(providerWith(), silent)).toBe('not_verified');
    expect(readPerson(providerWith(), { sub: '1' })).toBe('no_address');
    expect(readPerson(trusting, silent)).toMatchObject({ email: 'grace@example.com' });
    expect(readPerson(trusting, { ...grace, email_verified: false })).toBe('not_verified');
    expect(readPerson(providerWith(), { ...grace, email_verified: 'true' })).toMatchObject({ name: 'Grace' });
    for (const email_verified of [['true'], { toString: 'true' }, 1, 'TRUE', null])
      expect(readPerson(trusting, { ...grace, email_verified })).toBe('not_verified');
  });

  it('has an address of ASCII characters only: the lower case of another letter may be an ASCII letter', () => {
    for (const name of ['\u212Aim@example', 'mi\u212Ae@example', '\u0130vy@example', 'a@ex\u0430mple'])
      expect(readPerson(providerWith({ domains: ['*'] }), { ...grace, email: `${name}.com` })).toBe('no_address');
  });

  it('is admitted by a whole domain or group, not by a part of one', () => {
    const groups_claim = 'https://example.com/groups';
    const rules = { domains: ['example.com'], groups: [{ group: 'staff' }], groups_claim };
    const at = (email: string, groups: unknown) =>
      readPerson(providerWith(rules), { ...grace, email, [groups_claim]: groups });
    expect(at('a@example.com', undefined)).toMatchObject({ email: 'a@example.com' });
    for (const named of [['staff'], 'staff']) expect(at('a@other.org', named)).toMatchObject({ email: 'a@other.org' });
    for (const email of ['a@notexample.com', 'a@example.com.evil.org', 'a@sub.example.com'])
      expect(at(email, ['staff2', 7, null])).toBe('not_admitted');
    const anybody = readPerson(providerWith({ domains: ['*'] }), { ...grace, email: 'a@any.org' });
    expect(anybody).toMatchObject({ teams: new Map() });
  });

  it('has a role and teams only where the rules name them', () => {
    const inGroup = (group: string, ...teams: string[]) => ({ group, teams });
    const groups = [inGroup('lab', 'Research', 'Tools'), inGroup('ops', 'Tools')];
    const teams = new Map(Object.entries({ Research: false, Tools: true }));
    const inOps = readPerson(providerWith({ groups }), { ...grace, groups: ['ops'] });
    expect(inOps).toMatchObject({ role: undefined, teams });
    const withRole = providerWith({ groups: [...groups, { group: 'admins', role: 'admin' }] });
    expect(readPerson(withRole, { ...grace, groups: ['admins'] })).toMatchObject({ role: 'admin' });
    expect(readPerson(withRole, { ...grace, groups: [] })).toMatchObject({ role: 'member' });
  });
});

describe('the settings of sign_in', () => {
  it('refuse a provider without TLS on another machine, a provider that admits nobody, and two providers with one name', () => {
    const refused = (...providers: object[]) => signInSchema.safeParse({ providers }).success;
    expect(refused({ ...written, issuer: 'http://login.example.com' })).toBe(false);
    expect(refused({ ...written, issuer: 'http://127.0.0.1:8080' })).toBe(true);
    expect(refused({ ...written, domains: [] })).toBe(false);
    expect(refused({ ...written, name: '../x' })).toBe(false);
    expect(refused(written, written)).toBe(false);
    expect(refused(written, { ...written, name: 'second' })).toBe(true);
  });

  it('refuse scopes without openid, and a secret, with sentences that say what to write', () => {
    const said = (more: object) => {
      const { error } = signInSchema.safeParse({ providers: [{ ...written, ...more }] });
      return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    };
    const noOpenid = 'scopes: name `openid`: without it, a provider does not say who somebody is';
    expect(said({ scopes: ['email'] })).toEqual([`providers.0.${noOpenid}`]);
    const plain = 'a secret does not stand here: name the variable that has it, as `client_secret_env`';
    expect(said({ client_secret: 'x' })).toEqual([`providers.0.client_secret: ${plain}`]);
    expect(said({ scopes: ['openid'], client_secret_env: 'X' })).toBeUndefined();
  });
});
