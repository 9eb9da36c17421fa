import type { IncomingMessage } from 'node:http';

export interface OriginRules {
  /** `host:port` a client may name beside the bound address and its loopback names. */
  readonly allowHosts: readonly string[];
  /** Web origins whose pages may connect. None where left out. */
  readonly allowOrigins: readonly string[];
}

/**
 * Exact checks against pages that reach us through a browser: the Host header must name this
 * listener, and an Origin header, which only browsers send, must be an allowed one.
 */
export function refusalOf(
  request: IncomingMessage,
  names: ReadonlySet<string>,
  rules: OriginRules,
): string | null {
  const host = request.headers.host?.toLowerCase();
  if (host === undefined || !(names.has(host) || rules.allowHosts.includes(host))) {
    return 'the Host header names another server';
  }
  const { origin } = request.headers;
  if (origin !== undefined && !rules.allowOrigins.includes(origin.toLowerCase())) {
    return 'pages of this Origin may not connect';
  }
  return null;
}

/** What a Host header may say of a listener on this address. */
export function namesOf(host: string, port: number): ReadonlySet<string> {
  const bracketed = host.includes(':') ? `[${host}]` : host;
  const names = isLoopback(host) ? ['127.0.0.1', 'localhost', '[::1]', bracketed] : [bracketed];
  return new Set(names.map((name) => `${name}:${port}`.toLowerCase()));
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
