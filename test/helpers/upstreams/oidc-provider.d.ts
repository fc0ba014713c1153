/** The used part of oidc-provider, whose own package has no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  interface GrantedToken {
    accountId: string;
    aud: string | string[];
    clientId?: string;
    scope?: string;
    /** Seconds since 1970. */
    exp: number;
    grantId?: string;
  }

  interface TokenKind {
    find(token: string): Promise<GrantedToken | undefined>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  interface ResourceServer {
    scope: string;
    audience: string;
    accessTokenFormat: 'opaque' | 'jwt';
    accessTokenTTL: number;
  }

  interface Configuration {
    cookies: { keys: string[] };
    scopes: string[];
    rotateRefreshToken?: boolean;
    findAccount: (
      context: unknown,
      id: string,
    ) => { accountId: string; claims: () => { sub: string } & Record<string, unknown> } | undefined;
    /** Claims by scope. */
    claims?: Record<string, string[]>;
    /** Whether claims of scopes are kept out of id tokens that come with an access token. */
    conformIdTokenClaims?: boolean;
    extraTokenClaims?: (context: unknown, token: { accountId?: string }) => Record<string, unknown>;
    issueRefreshToken?: () => Promise<boolean>;
    pkce?: { required: () => boolean };
    /** Seconds. */
    ttl: Record<string, number | (() => number)>;
    clients: Record<string, unknown>[];
    features: {
      registration?: { enabled: boolean };
      revocation?: { enabled: boolean };
      resourceIndicators?: {
        enabled: boolean;
        useGrantedResource?: () => boolean;
        getResourceServerInfo: (context: unknown, resource: string) => ResourceServer;
      };
    };
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration);
    readonly AccessToken: TokenKind;
    readonly RefreshToken: TokenKind;
    callback(): RequestListener;
  }
}
