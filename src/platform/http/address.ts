/** Whether a client's address is this machine's own: the operator's programs, or a proxy that does not say whom it speaks for. */
export function isLoopback(ip: string): boolean {
  return ip === '::1' || /^(::ffff:)?127\./.test(ip);
}
