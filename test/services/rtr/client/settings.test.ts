import { describe, expect, it } from 'vitest';
import { mergeJson } from '#services/rtr/client/lib/programs/merge-json.mjs';
import { mergeToml } from '#services/rtr/client/lib/programs/merge-toml.mjs';
import { toRouterAddress } from '#services/rtr/client/lib/router-address.mjs';

describe('a settings file of JSON', () => {
  it('keeps everything that is not about the router, and its indentation', () => {
    const before = '{\n    "theme": "dark",\n    "env": { "A": "1", "B": "2" },\n    "list": [1, 2]\n}\n';
    const after = mergeJson('f', before, { helper: 'x', env: { B: '3' } });
    expect(JSON.parse(after)).toEqual({ theme: 'dark', env: { A: '1', B: '3' }, list: [1, 2], helper: 'x' });
    expect(after).toContain('\n    "theme"');
    expect(mergeJson('f', after, { helper: 'x', env: { B: '3' } })).toBe(after);
  });

  it('is left alone if it cannot be read, and nothing of it is shown', () => {
    for (const before of ['{ "a": 1, // mine\n}', '[1]', 'null', '"text"', 'secret'])
      expect(() => mergeJson('/home/ada/settings.json', before, {})).toThrow(
        '/home/ada/settings.json is not a JSON object',
      );
    expect(mergeJson('f', '', { a: 1 })).toBe('{\n  "a": 1\n}\n');
  });
});

describe('a settings file of TOML', () => {
  const top = { model: 'auto', model_provider: 'rtr' };
  const tables = { 'p.rtr': { name: 'Router', n: 5 }, 'p.rtr.auth': { command: 'rtr', args: ['token'] } };
  const own = '[p.rtr]\nname = "Router"\nn = 5\n\n[p.rtr.auth]\ncommand = "rtr"\nargs = ["token"]\n';

  it('gets the values at its top and the tables at its end', () => {
    expect(mergeToml('', top, tables)).toBe(`model = "auto"\nmodel_provider = "rtr"\n\n${own}`);
  });

  it('keeps every other line, comments and texts that look like tables included', () => {
    const notes = 'notes = """\n[p.rtr]\nmodel_provider = "not one"\n"""\n';
    const kept = `${notes}\n[tui]  # a table\nmodel = "kept: of this table"\n`;
    const rest = '[p.other]\nname = "kept"\n[[list]]\na = 1';
    const before = `# mine\nmodel = "gpt-5.5" # the best\n${kept}[ p . "rtr" ]\nname = "old"\n\n${rest}`;
    const after = mergeToml(before, top, tables);
    expect(after).toBe(`model = "auto" # the best\nmodel_provider = "rtr"\n# mine\n${kept}${rest}\n\n${own}`);
    expect(mergeToml(after, top, tables)).toBe(after);
  });

  it('keeps comments after the values at its top, and those between a replaced table and the next one', () => {
    const gone = '[p.rtr]\n# goes: of this table\nlist = [ # goes\n  # goes too\n]\n\n';
    const kept = '# about b\n\n[b]\nc = 1\n';
    const end = '[p.rtr.auth]\ncommand = "old" # goes\n# the end';
    const before = `model = "a # b"   # keep\nmodel_provider='x'# why\n\n${gone}${kept}${end}`;
    const after = mergeToml(before, top, tables);
    const head = 'model = "auto" # keep\nmodel_provider = "rtr" # why\n\n';
    expect(after).toBe(`${head}${kept}# the end\n\n${own}`);
    expect(mergeToml(after, top, tables)).toBe(after);
  });

  it('keeps its line ends, on Windows too', () => {
    const before = 'model = "x"\r\n[a]\r\nb = 1\r\n';
    expect(mergeToml(before, { model: 'auto' }, {})).toBe('model = "auto"\r\n\r\n[a]\r\nb = 1\r\n');
  });

  it('may have lists over several lines, and quotes in comments and texts', () => {
    const kept = ['x = [', '  ["a", "]"], # three quotes: """ and [p.rtr]', '# """', "[tui] # don't"];
    const [list, inside, quotes, tui] = kept;
    const texts = [']', 'text = "it is \\"""', "path = 'C:\\\\' # '''", 'model = "old"'];
    const before = [list, inside, ...texts, quotes, '[p.rtr]', 'name = "old"', tui, 'y = 1'].join('\n');
    const once = mergeToml(before, top, tables);
    expect(mergeToml(once, top, tables)).toBe(once);
    for (const line of [/^\[p\.rtr\]$/gm, /^model = /gm]) expect(once.match(line)).toHaveLength(1);
    expect(once).not.toContain('old');
    expect(once.split('\n')).toEqual(expect.arrayContaining(kept));
  });

  it('loses the same settings in other spellings, and is refused where they are inside one value', () => {
    const dotted = 'p.rtr.name = "old"\np.rtr.auth = { command = "old" }\np.other.name = "kept"\n[p]\nrtr.n = 4\n';
    const after = mergeToml(dotted, top, tables);
    expect(after).not.toContain('old');
    expect(after).not.toContain('n = 4');
    expect(after).toContain('p.other.name = "kept"');
    expect(() => mergeToml('p = { rtr = { name = "old" } }\n', top, tables)).toThrow('has `p` as one value');
  });
});

describe('the address of a router', () => {
  it('is https unless it is this machine, and has no slash at its end', () => {
    expect(toRouterAddress('llm.example.com')).toBe('https://llm.example.com');
    const api = 'https://llm.example.com:8443/api/anthropic';
    expect(toRouterAddress(`${api}/`)).toBe(api);
    expect(toRouterAddress('localhost:8484')).toBe('http://localhost:8484');
    expect(toRouterAddress('http://127.0.0.1:8484/?a=b#c')).toBe('http://127.0.0.1:8484');
    expect(toRouterAddress('http://[::1]:8484')).toBe('http://[::1]:8484');
  });

  it('is refused without TLS on another machine, and if it is invalid', () => {
    for (const entered of ['http://llm.example.com', 'http://192.168.1.5:8484', 'http://127.0.0.1.example.com'])
      expect(() => toRouterAddress(entered)).toThrow('has no TLS');
    for (const entered of ['', 'ftp://a', 'https://', 'https://user:pass@llm.example.com', 'file:///etc/passwd'])
      expect(() => toRouterAddress(entered)).toThrow('is not the address of a router');
  });
});
