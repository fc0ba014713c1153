/** An answer, and its address after redirects. */
export interface Visited {
  url: URL;
  status: number;
  text: string;
}

/** A browser without pages: it keeps cookies, by host and port, and follows redirects. */
export class CookieClient {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Returns the cookies of an origin, in the form of the header. */
  cookiesOf(url: string): string {
    return [...(this.#cookies.get(new URL(url).host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  setCookie(url: string, name: string, value: string): void {
    this.#jar(new URL(url).host).set(name, value);
  }

  /**
   * Visits a page, and follows redirects.
   * @param form sent with POST, if given
   * @param headers further headers of each request
   * @param stopsAt an address that is not followed but returned, with status 0
   */
  async visit(
    address: string | URL,
    {
      form,
      headers = {},
      stopsAt,
    }: { form?: Record<string, string>; headers?: Record<string, string>; stopsAt?: (url: URL) => boolean } = {},
  ): Promise<Visited> {
    let url = new URL(address);
    let body = form && new URLSearchParams(form);
    for (let hops = 0; hops < 15; hops++) {
      const cookie = this.cookiesOf(url.href);
      const answer = await fetch(url, {
        method: body ? 'POST' : 'GET',
        redirect: 'manual',
        headers: { ...headers, accept: 'text/html', ...(cookie !== '' && { cookie }) },
        ...(body && { body }),
      });
      for (const set of answer.headers.getSetCookie()) this.#keep(url.host, set);
      const text = await answer.text();
      const location = answer.headers.get('location');
      if (location === null) return { url, status: answer.status, text };
      url = new URL(location, url);
      body = undefined;
      if (stopsAt?.(url)) return { url, status: 0, text: '' };
    }
    throw new Error(`too many redirects, the last to ${url.href}`);
  }

  #keep(host: string, set: string): void {
    const [pair = '', ...attributes] = set.split(';').map((part) => part.trim());
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    const expires = attributes.find((each) => /^expires=/i.test(each))?.slice(8);
    if (expires !== undefined && Date.parse(expires) <= Date.now()) this.#jar(host).delete(name);
    else this.#jar(host).set(name, pair.slice(at + 1));
  }

  #jar(host: string): Map<string, string> {
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    return jar;
  }
}
