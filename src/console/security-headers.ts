/**
 * What the console's pages may load: files of the console's own origin, and pictures that they have made themselves.
 * Nothing inline, and nothing of another host.
 */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of the console's documents; the camera and the position are for observations. */
export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(self), geolocation=(self), microphone=(), payment=(), usb=()',
};

/** The headers of the service worker, which loads nothing but files of the console. */
export const WORKER_HEADERS = {
  'content-security-policy': "default-src 'self'",
};
