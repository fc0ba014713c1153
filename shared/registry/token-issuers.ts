import { z } from 'zod';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers } from '#shared/core/tier.ts';

/** The permitted algorithms. All use a pair of keys: with a shared secret, everybody who can verify a token could also make tokens. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

const text = z.string().min(1).max(500);
const count = z.number().int().positive();
const dollars = z.number().positive();

/** Whether an issuer may be asked at a URL: it uses TLS, or names this machine. */
export function isSafeAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol === 'https:') return true;
  return url?.protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
}

const limitNames = z.partialRecord(
  z.enum([
    'requestsPerMinute',
    'tokensPerMinute',
    'concurrentRequests',
    'tokensPerDay',
    'tokensPerMonth',
    'costPerDay',
    'costPerMonth',
  ]),
  z.number(),
);

const limits = z
  .strictObject({
    requests_per_minute: count.optional(),
    tokens_per_minute: count.optional(),
    concurrent_requests: count.optional(),
    tokens_per_day: count.optional(),
    tokens_per_month: count.optional(),
    /** In US dollars. */
    cost_per_day: dollars.optional(),
    cost_per_month: dollars.optional(),
  })
  .transform((written): z.output<typeof limitNames> => {
    const limits = Object.entries(written).filter(([, max]) => max !== undefined);
    return Object.fromEntries(
      limits.map(([name, max]) => [name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), max]),
    );
  });

const serviceAccount = z.strictObject({
  name: z.string().regex(/^[\w.@-]{1,64}$/, 'a name is made of letters, digits and . @ _ -'),
  class: z.enum(priorityClasses).default('normal'),
  /** Names of models that the account may request; default: all. */
  models: z.array(text).min(1).optional(),
  tiers: z.array(z.enum(tiers)).min(1).optional(),
  /** Tools that the account may list and call: names, and `<server>/*` for all tools of an MCP server; default: all. */
  tools: z.array(text).min(1).optional(),
  limits: limits.prefault({}),
});

const pattern = z.union([text, z.number(), z.boolean()]).transform(String);

const rule = z
  .strictObject({
    /** Claims that a token must have, each with one of these values. `*` in a value stands for any characters. */
    match: z.record(text, z.union([pattern.transform((value) => [value]), z.array(pattern).min(1)])).default({}),
    /**
     * `account`: the person who signs in to the console with the token's subject; `email`: the person with the token's verified address;
     * otherwise the e-mail address of the person.
     */
    person: text.optional(),
    /** Name or id of a team. */
    team: text.optional(),
    service_account: serviceAccount.optional(),
  })
  .superRefine(({ match, person, team, service_account: account }, context) => {
    const add = (message: string): void => context.addIssue({ code: 'custom', message });
    if ([person, team, account].filter((target) => target !== undefined).length !== 1)
      add('a rule names one of person, team and service_account');
    else if (person !== 'email' && person !== 'account' && Object.keys(match).length === 0)
      add('a rule without `match` would admit everybody to whom the issuer gives tokens');
    if (person !== undefined && person !== 'email' && person !== 'account' && !person.includes('@'))
      add('`person` is `account`, `email`, or the address of a person');
  });

/** Converts a rule from the file's form to the router's, in which the claims are a list of names with their values. */
function toRule({ match, service_account: serviceAccount, ...target }: z.output<typeof rule>) {
  return { ...target, match: Object.entries(match), serviceAccount };
}

/** The settings with which Claude Desktop signs people in at the issuer. */
const claudeDesktop = z.strictObject({
  client_id: text,
  scopes: z.array(text).optional(),
  redirect_port: z.number().int().min(1).max(65_535).optional(),
  bearer_token_type: z.enum(['id_token', 'access_token']).optional(),
  /** Further keys of Claude Desktop's configuration. */
  settings: z.record(z.string(), z.json()).default({}),
});

const tokenIssuer = z
  .strictObject({
    /** The exact value of the claim `iss`. */
    issuer: text,
    /** The accepted audiences. A token must be issued for one of these. */
    audiences: z.array(text).min(1),
    algorithms: z.array(z.enum(algorithms)).min(1).default(['RS256', 'ES256', 'EdDSA', 'Ed25519']),
    /** The URL of the issuer's keys; default: the URL in its `/.well-known/openid-configuration`. */
    jwks_uri: z.string().refine(isSafeAddress, 'must be an https address').optional(),
    jwks_file: z.string().min(1).optional(),
    jwks: z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })).min(1) }).optional(),
    /** A PEM file with the CA of the issuer's certificate, in addition to the public CAs. */
    ca: z.string().min(1).optional(),
    /** Whether an e-mail address counts as verified even if the token does not state whether it is. */
    trust_email: z.boolean().default(false),
    claude_desktop: claudeDesktop.optional(),
    /** The rules for the issuer's tokens. The first rule that matches a token decides which account the token stands for. */
    rules: z.array(rule).min(1),
  })
  .superRefine(({ issuer, jwks_uri: uri, jwks_file: file, jwks }, context) => {
    const sources = [uri, file, jwks].filter((source) => source !== undefined);
    if (sources.length > 1) context.addIssue({ code: 'custom', message: 'name one of jwks_uri, jwks_file and jwks' });
    if (sources.length === 0 && !isSafeAddress(issuer))
      context.addIssue({ code: 'custom', path: ['issuer'], message: 'must be an https address, or name its keys' });
  })
  .transform(({ jwks_uri: jwksUri, jwks_file: jwksFile, trust_email: trustsEmail, rules, ...others }) => {
    const { claude_desktop: desktop, ...rest } = others;
    return { ...rest, jwksUri, jwksFile, trustsEmail, desktop, rules: rules.map(toRule) };
  });

/** The issuers whose tokens are accepted as credentials, with the accounts for which the tokens stand. */
export const tokenIssuersSchema = z.array(tokenIssuer).superRefine((issuers, context) => {
  const add = (message: string): void => context.addIssue({ code: 'custom', message });
  const names = issuers.map(({ issuer }) => issuer);
  if (new Set(names).size < names.length) add('each issuer stands here once, with all its audiences and rules');
  const settingsByAccount = new Map<string, string>();
  for (const account of issuers.flatMap(({ rules }) => rules.flatMap((each) => each.serviceAccount ?? []))) {
    const settings = JSON.stringify(account);
    if ((settingsByAccount.get(account.name) ?? settings) !== settings)
      add(`the rules for the service account ${account.name} differ in what it may do`);
    settingsByAccount.set(account.name, settings);
  }
});

export type TokenIssuer = z.output<typeof tokenIssuer>;
