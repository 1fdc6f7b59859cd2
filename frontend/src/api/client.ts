// One way to ask the daemon: addresses relative to <base>, the page's language, the CSRF token on
// whatever changes something, and refusals as RFC 9457 problems in words.
import { languageNow } from '../text';

/** A refusal by the daemon (`status` as in HTTP), or no answer at all (`status` 0). */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly more: Readonly<Record<string, unknown>>;

  constructor(status: number, message: string, code = '', more: Record<string, unknown> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.more = more;
  }
}

let csrf = '';
let signedOut: () => void = () => undefined;

export function useCsrf(token: string): void {
  csrf = token;
}

/** What to do when the daemon says 401 in the middle of work. */
export function onSignedOut(action: () => void): void {
  signedOut = action;
}

export function headers(): Record<string, string> {
  return { 'Accept-Language': languageNow() === 'zh' ? 'zh-CN' : 'en' };
}

/** Absolute address of a path of the API, or of a view, below the page's prefix. */
export function address(path: string): string {
  return new URL(path, document.baseURI).href;
}

export async function refusal(response: Response): Promise<Problem> {
  let detail = response.statusText || `HTTP ${response.status}`;
  let code = '';
  let more: Record<string, unknown> = {};
  try {
    more = (await response.json()) as Record<string, unknown>;
    if (typeof more['detail'] === 'string') detail = more['detail'];
    if (typeof more['type'] === 'string') code = more['type'].replace(/^.*\/problems\//, '');
  } catch {
    // No problem document: a proxy's own page, say. The status has to do.
  }
  return new Problem(response.status, detail, code, more);
}

async function ask(method: string, path: string, body?: unknown, extra: Record<string, string> = {}): Promise<Response> {
  const asked: RequestInit = { method, headers: { ...headers(), ...extra }, credentials: 'same-origin' };
  const given = asked.headers as Record<string, string>;
  if (method !== 'GET') given['X-Roost-CSRF'] = csrf;
  if (body !== undefined) {
    given['Content-Type'] = 'application/json';
    asked.body = JSON.stringify(body);
  }
  let response: Response;
  try {
    response = await fetch(address(path), asked);
  } catch (error) {
    throw new Problem(0, error instanceof Error ? error.message : String(error));
  }
  if (!response.ok) {
    const problem = await refusal(response);
    if (problem.status === 401 && !path.startsWith('v1/session')) signedOut();
    throw problem;
  }
  return response;
}

async function parsed<T>(response: Response): Promise<T> {
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const get = async <T>(path: string): Promise<T> => parsed<T>(await ask('GET', path));

export const post = async <T>(path: string, body?: unknown, extra?: Record<string, string>): Promise<T> =>
  parsed<T>(await ask('POST', path, body, extra));

export const patch = async <T>(path: string, body?: unknown): Promise<T> => parsed<T>(await ask('PATCH', path, body));

export const put = async <T>(path: string, body?: unknown): Promise<T> => parsed<T>(await ask('PUT', path, body));

export const remove = async <T>(path: string, body?: unknown): Promise<T> => parsed<T>(await ask('DELETE', path, body));

export const text = async (path: string): Promise<string> => (await ask('GET', path)).text();

/** "v1/jobs?ended=1&user=li" without what is null. */
export function query(path: string, values: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '') words.set(name, String(value));
  }
  const tail = words.toString();
  return tail ? `${path}?${tail}` : path;
}
