import type { FastifyReply } from 'fastify';
import { decodeBody } from '../../../platform/http/encoding.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { FeedbackState } from '../label-pages/forms/feedback-form.ts';
import { SENT } from '../label-pages/pages.ts';

/** Maximum bytes of a form: 4,000 characters of any script, percent-encoded. */
export const FORM_BYTES = 64 * 1024;

/** The fields of the form of a label's page. */
const NAMES = ['type', 'feedback', 'email', 'gdprConsent', 'privacyPolicyConsent', 'termsOfUseConsent'];

/**
 * Makes the routes of a separate context accept forms of browsers, too. Empty and unknown fields are left out, and line
 * breaks become a single character, as browsers count them.
 */
export function readForms(scope: Server): void {
  scope.addContentTypeParser(
    /^application\/x-www-form-urlencoded\s*(;|$)/i,
    { parseAs: 'buffer' },
    async (request: Parameters<typeof decodeBody>[0], bytes: Buffer) => {
      const sent = new URLSearchParams((await decodeBody(request, bytes)).toString('utf8'));
      const fields = NAMES.flatMap(name => {
        const value = sent.get(name)?.replaceAll('\r\n', '\n');
        return value ? [[name, value] as const] : [];
      });
      for (const [name, value] of fields) checkText(name, value);
      return Object.fromEntries(fields);
    },
  );
}

function checkText(name: string, value: string): void {
  if (value.includes('\0')) throw new Problem('validation.nul', { field: name });
}

/** Redirects a browser to the page of the label, which says thank you. */
export function thank(reply: FastifyReply, uuid: string): FastifyReply {
  return reply.redirect(`../${encodeURIComponent(uuid)}?feedback=${SENT}#answer`, 303);
}

/** Refused feedback for the page of the label; undefined for other errors. */
export function refusedFeedback(problem: unknown, body: unknown): FeedbackState | undefined {
  if (!(problem instanceof Problem)) return undefined;
  const { code, fields = {}, retryAfter } = problem;
  if (code !== 'invalid' && code !== 'too_many_requests') return undefined;
  const wrong = Object.keys(fields);
  const reason = retryAfter !== undefined ? 'later' : wrong.length === 0 ? 'full' : undefined;
  return { sent: typeof body === 'object' && body !== null ? { ...body } : {}, wrong, reason };
}
