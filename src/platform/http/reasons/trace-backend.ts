import {
  forbidden,
  invalid,
  notFound,
  preconditionFailed,
  tooLarge,
  tooManyRequests,
  unauthenticated,
  unavailable,
  unsupportedMediaType,
} from './reason.ts';

/** The reasons of the trace backend, in the order of its folders. */
export const traceReasons = {
  // access
  'session.required': unauthenticated('log in first: POST /api/user/login'),
  'session.ended': unauthenticated('the session has ended; log in again'),
  'user.not_admin': forbidden('only a REGIONAL_ADMIN or SYSTEM_ADMIN can do this', 'Ask an administrator.'),
  'second_factor.required': forbidden(
    'a {role} needs a second factor here: set one up (POST /api/user/second_factor/begin), or log in with its code',
    'Set up a second factor, or log in with its code.',
  ),
  'request.origin_not_allowed': forbidden(
    'pages of this origin cannot call the service; allowed origins are those of TRACE_PUBLIC_URL, TRACE_FRONTEND_URL and CORS_ORIGINS',
    'The operator adds the origin to CORS_ORIGINS.',
  ),

  // audit
  'audit.part_without_user': invalid('{field} can only be used with user or userId'),
  'audit.part_without_count': invalid('{field} must be FETCH with this part'),
  'audit.part_without_offset': invalid('{field} must be 0 with this part; use after instead'),
  'audit.too_many_users': invalid(
    '{field} matches more than {max} users',
    'Search for more of the name or address.',
  ),

  // values of several resources
  'validation.no_date': invalid('{field} is not a date'),
  'validation.no_date_or_time': invalid('{field} must be an ISO 8601 date or date-time'),
  'validation.no_time': invalid('{field} must be an ISO 8601 date-time'),
  'validation.not_in_future': invalid('{field} must be in the future'),
  'validation.too_many_days_ahead': invalid('{field} must be at most {max} days from now'),
  'validation.date_out_of_range': invalid(
    '{field} must be a date from {min} to {max}, in the form YYYY-MM-DD',
  ),
  'validation.no_email': invalid('{field} must be an email address such as ana@example.org'),
  'validation.unknown_record': invalid('{field} is not a {noun}'),
  'record.changed': preconditionFailed('the record has changed since you read it; read it again'),

  // users
  'user.unknown': notFound('user not found'),
  'user.deactivated': invalid('the account is deactivated', 'Ask an administrator to activate the account.'),
  'user.erased': invalid('the account has been erased', "Nothing: an erased account can't be used again."),
  'user.address_confirmed': invalid(
    'the user has already confirmed the address',
    'Nothing: the address is confirmed.',
  ),
  'user.address_registered': invalid(
    'this address is already registered',
    'Log in, or request a new password with POST /api/user/request_reset_password.',
  ),
  'user.named_address_registered': invalid(
    '{email} is already registered',
    'Use the existing account, or another address.',
  ),
  'user.last_system_admin': invalid(
    'this is the last active SYSTEM_ADMIN',
    'Make another user a SYSTEM_ADMIN first.',
  ),
  'user.already_system_admin': invalid(
    'the user is a SYSTEM_ADMIN, which includes this role',
    'Nothing: the user has the rights of this role.',
  ),
  'user.is_yourself': invalid(
    'you cannot do this to yourself; ask another administrator',
    'Ask another administrator.',
  ),
  'user.erasing_yourself': invalid('use POST /api/user/erase for yourself', 'Use POST /api/user/erase.'),
  'user.action_for_system_admin': forbidden('only a SYSTEM_ADMIN can use {action}', 'Ask a SYSTEM_ADMIN.'),
  'user.only_system_admin_changes': forbidden(
    'only a SYSTEM_ADMIN can change a SYSTEM_ADMIN',
    'Ask a SYSTEM_ADMIN.',
  ),
  'user.only_other_system_admin_changes': forbidden(
    'only another SYSTEM_ADMIN can change a SYSTEM_ADMIN',
    'Ask another SYSTEM_ADMIN.',
  ),
  'user.confirmation_token_unusable': invalid(
    '{field} is unknown, used or older than 72 hours; request another email',
    'Request another confirmation email.',
  ),
  'user.reset_token_unusable': invalid(
    '{field} is unknown, used or older than an hour; request another email',
    'Request another email.',
  ),
  'confirmation_link.mails_are_sent': invalid(
    'this installation sends email: send the confirmation email again instead',
    'Use POST /api/user/resend_confirmation.',
  ),
  'contact.unknown': notFound('no user has this contact', 'Check the contact.'),

  // keys for programs
  'key.unknown': notFound('API key not found'),
  'key.not_resolved': notFound('the API key is unknown, expired or revoked', 'Create a new key.'),
  'key.too_many': invalid('a user can have at most {max} keys: revoke one first', 'Revoke a key first.'),
  'key.admin_scope_not_allowed': invalid(
    '{field}: only administrators can choose admin',
    'Choose read or write.',
  ),
  'service_token.required': unauthenticated(
    'the service token is required',
    'The operator sets the same SERVICE_TOKEN for both services.',
  ),

  // passwords, logins and sessions
  'password.wrong_length': invalid('{field} must have {min} to {max} characters'),
  'password.too_common': invalid('{field} is one of the most common passwords; choose another'),
  'password.missing_or_wrong': invalid('{field} is missing or wrong'),
  'password.too_many_checks': unavailable('too many passwords are waiting to be checked'),
  'password.changed_meanwhile': invalid(
    'the password has just been changed; try again',
    'Send the new password, and repeat the request.',
  ),
  'login.wrong': unauthenticated('username or password is wrong', 'Check both, or request a new password.'),
  'login.too_many_failures': tooManyRequests('too many failed attempts; try again later'),
  'login.address_unconfirmed': unauthenticated(
    'the account is not active: its email address has not been confirmed',
    'Open the link in the confirmation email, or request another one.',
  ),
  'login.not_activated': unauthenticated(
    'the account is not active: an administrator has not activated it yet',
    'Ask an administrator to activate the account.',
  ),
  'login.deactivated': unauthenticated(
    'the account is not active: an administrator deactivated it',
    'Ask an administrator.',
  ),
  'login.code_wrong': unauthenticated(
    '{field} is wrong or was already used',
    'Enter the next code of the app, or an unused recovery code.',
  ),
  'session.none': unauthenticated('you are not logged in'),
  'session.unknown': notFound('session not found', 'Nothing: the session has already ended.'),

  // second factors
  'second_factor.code_required': unauthenticated(
    '{field} is required: this account has a second factor',
    'Send a code of the app, or a recovery code.',
  ),
  'second_factor.exists': invalid(
    'a second factor already exists; remove it first',
    'Remove the existing second factor first.',
  ),
  'second_factor.none': invalid('no second factor exists', 'Nothing: there is nothing to remove.'),
  'second_factor.none_to_confirm': invalid(
    'no second factor to confirm',
    'Start with POST /api/user/second_factor/begin.',
  ),
  'second_factor.required_by_role': invalid(
    'the role {role} requires a second factor',
    'Nothing: this role must keep a second factor.',
  ),
  'second_factor.code_wrong': invalid(
    '{field} is wrong or was already used',
    'Enter the next code of the app, or an unused recovery code.',
  ),

  // changes of addresses, mails and settings
  'email_change.address_unchanged': invalid('{field} is already your address', 'Enter another address.'),
  'email_change.requested_just_now': tooManyRequests('a change was requested a moment ago; try again later'),
  'email_change.token_unusable': invalid(
    '{field} is unknown, used or older than 72 hours; request the change again',
    'Request the change again.',
  ),
  'email_change.unknown': notFound('no change of address is pending', 'Nothing: no change is pending.'),
  'mail.unknown': notFound(
    'email not found: it was sent, dismissed or is no longer needed',
    'Nothing, if the email is done; otherwise check the id.',
  ),
  'mail.being_sent_again': invalid(
    'the email is already being sent again',
    'Nothing: the email is on its way.',
  ),
  'mail.obsolete': invalid('this email is no longer needed', 'Nothing: the email is no longer needed.'),
  'setting.too_many': invalid('there can be at most {max} settings', 'Reuse an existing setting.'),

  // companies
  'company.unknown': notFound("company not found, or you don't have access"),
  'company.deactivated': invalid('the company is deactivated', 'Ask a SYSTEM_ADMIN to activate the company.'),
  'company.not_active': invalid(
    '{field} is not an active company',
    'Choose an active company, or ask a SYSTEM_ADMIN to activate it.',
  ),
  'company.not_yours': invalid('{field} must be an active company that you belong to'),
  'company.not_changeable_deactivated': forbidden(
    'the company is deactivated; a SYSTEM_ADMIN can activate it',
    'Ask a SYSTEM_ADMIN to activate the company.',
  ),
  'company.only_admins_change': forbidden(
    'only a COMPANY_ADMIN of the company can change it',
    'Ask a COMPANY_ADMIN of the company.',
  ),
  'company.last_admin': invalid(
    'this is the last COMPANY_ADMIN of the company; give another user this role first',
    'Give another user of the company the role COMPANY_ADMIN first.',
  ),
  'company.too_many_users': invalid(
    'the company already has the maximum of {max} users',
    'Remove a user or an invitation first.',
  ),
  'company.none_administered': invalid(
    '{field} is required: you are not COMPANY_ADMIN of any company',
    'Send the id of the company.',
  ),
  'company.several_administered': invalid('{field} is required: you are COMPANY_ADMIN of {count} companies'),
  'company.merged_into_itself': invalid('{field} must be another company'),
  'company.merge_has_too_many_users': invalid(
    'together the companies would have more than the maximum of {max} users',
    'Remove users from one of the companies first.',
  ),
  'company.merge_has_too_many_value_chains': invalid(
    'together the companies would have more than the maximum of {max} value chains',
    'Remove value chains from one of the companies first.',
  ),
  'company_user.not_named': invalid('{field} is required, or email instead'),
  'company_user.named_twice': invalid('{field} cannot be combined with userId'),
  'company_user.unknown': invalid('{field} is not a user of the company'),
  'company_user.not_active': invalid(
    '{field} is not an active user',
    'Ask an administrator to activate the user.',
  ),
  'company_user.is_member': invalid(
    '{field} already belongs to a member of the company',
    'Nothing: the person is already a member.',
  ),
  'company_user.neither_member_nor_invited': invalid(
    '{field} belongs neither to a member of the company nor to an invited person',
  ),
  'company_user.has_other_role': invalid(
    '{field} is already a {role} of the company; use SET_USER_COMPANY_ROLE to change the role',
    'Use SET_USER_COMPANY_ROLE.',
  ),
  'company_invitation.unknown': notFound('invitation not found'),
  'company_invitation.token_unusable': invalid(
    '{field} is unknown, used or expired; ask the company to invite you again',
    'Ask the company for another invitation.',
  ),
  'company_invitation.no_active_account': invalid(
    'no active account has this address: create one, and open the link again after an administrator has activated it',
    'Create an account with this address, and open the link again once it is active.',
  ),
  'company_invitation.link_required': invalid(
    'this invitation can be accepted only with the link in its email',
    'Open the link in the email.',
  ),
  'company_invitation.too_many_to_address': tooManyRequests(
    '{field} was invited {max} times in a day; try again later',
  ),
  'company_invitation.too_many_sent': tooManyRequests('you invited {max} users in an hour; try again later'),
  'country.unknown': invalid('{field} must be a country listed by GET /api/common/countries'),

  // images and documents
  'file.missing': invalid('{field} is required, as a file'),
  'file.not_one': invalid('{field} must be one file, in a part of that name'),
  'file.empty': invalid('{field} is empty'),
  'file.too_large': tooLarge('file is larger than {max} MB', 'Send a smaller file.'),
  'file.unknown_storage_key': invalid(
    '{field} must be the storage key of an uploaded file',
    "Upload the file yourself; you cannot use partners' files.",
  ),
  'file.other_kind': invalid('{field} must be the storage key of an uploaded {kind}'),
  'image.unknown': notFound('image not found'),
  'image.wrong_format': unsupportedMediaType('file must be a JPEG, PNG or WebP image'),
  'image.damaged': invalid(
    '{field} is damaged: it starts like an image but cannot be decoded',
    'Save the image again, and send the new file.',
  ),
  'image.too_many_pixels': invalid('{field} has more than {max} million pixels', 'Send a smaller image.'),
  'image.too_slow_to_read': invalid(
    '{field} takes more than {max} seconds to read; send a smaller or simpler image',
  ),
  'image.too_many_waiting': unavailable('too many images are waiting to be processed; try again'),
  'image.upload_too_slow': unavailable('the upload took too long; try again'),
  'document.unknown': notFound("document not found, or you don't have access"),

  // currencies
  'currency.unknown': notFound('currency {code} not found'),
  'currency.unsupported': invalid(
    '{field} must be a supported currency; {code} is unknown',
    'Choose a currency of GET /api/chain/currency-type/list.',
  ),
  'currency.disabled': invalid(
    '{field} must be a supported currency; {code} is disabled',
    'Choose another currency, or ask an administrator to enable it.',
  ),
  'currency.not_listed': invalid('{field} must be a currency listed by GET /api/chain/currency-type/list'),
  'currency.not_in_iso_4217': invalid('{field} must be a currency code of ISO 4217'),
  'exchange_rate.none_yet': notFound(
    'no rates of {codes} yet',
    'Wait for the daily retrieval, or import rates.',
  ),
  'exchange_rate.never_of_both': notFound(
    'no day has rates for both {codes}',
    'Convert through a third currency, or import more rates.',
  ),
  'exchange_rate.none_on_date': notFound(
    'no rates of {codes} for {date}',
    'Choose another date, or import rates.',
  ),
  'exchange_rate.not_of_both_until_date': notFound(
    'no day up to {date} has rates for both {codes}',
    'Choose a later date, or import rates.',
  ),
  'exchange_rate.none_in_period': notFound(
    'no rates of {code} in this period',
    'Choose another period, or import rates.',
  ),
  'exchange_rate.wrong_period': invalid('{field} must be at most ten years before to, and not after it'),
  'exchange_rate.being_fetched': unavailable('the exchange rates of this date are being fetched; try again'),
  'exchange_rate.requests_used_up': tooManyRequests(
    "today's {max} requests for exchange rates are used up; try again tomorrow",
    'Try again tomorrow, or convert on a date with stored rates.',
  ),
  'exchange_rate.own_requests_used_up': tooManyRequests(
    "you have used up your {max} of today's requests for exchange rates; try again tomorrow",
    'Try again tomorrow, or convert on a date with stored rates.',
  ),
  'exchange_rate.requests_suspended': unavailable(
    'the exchange-rate provider keeps failing; requests to it are paused',
  ),
  'exchange_rate.provider_refuses_key': unavailable(
    'the exchange-rate provider rejected FX_ACCESS_KEY',
    'The operator checks the setting FX_ACCESS_KEY.',
  ),
  'exchange_rate.provider_refuses_euro': unavailable(
    'the exchange-rate provider does not offer rates in euro for FX_ACCESS_KEY',
    'The operator checks the plan of FX_ACCESS_KEY.',
  ),
  'exchange_rate.provider_requests_used_up': unavailable(
    'the exchange-rate provider reports that the requests for FX_ACCESS_KEY are used up',
    'The operator checks the plan of FX_ACCESS_KEY, or imports rates from a file.',
  ),
  'exchange_rate.provider_failed': unavailable('the exchange-rate provider returned an unknown error'),
  'exchange_rate.provider_answer_invalid': unavailable('the exchange-rate provider sent an invalid response'),

  // files of exchange rates
  'rates_file.unreadable': invalid('{file} cannot be read'),
  'rates_file.is_folder': invalid('{file} is a folder, not a file'),
  'rates_file.empty': invalid('{file} is empty'),
  'rates_file.not_of_ecb': invalid(
    "{file} is not the ECB's eurofxref-hist.csv: its first line must start with Date,USD,…",
  ),
  'rates_file.currency_twice': invalid('the first line of {file} has {code} twice'),
  'rates_file.cut_off': invalid(
    '{file} was not imported\nthe last line may be cut off: it has no line break',
  ),
  'rates_file.wrong_lines': invalid('{file} was not imported\n{lines}'),
  'rates_file.jumps': invalid(
    '{file} was not imported; use force to import these rates anyway\n{lines}',
    'Check these rates; use force if they are right.',
  ),
  'rates_file.line_without_date': invalid('line {line}: the date is missing'),
  'rates_file.no_date': invalid('line {line}: {value} is not a date'),
  'rates_file.date_out_of_range': invalid('line {line}: {value} is not between {min} and {max}'),
  'rates_file.date_twice': invalid('line {line}: {value} is also in an earlier line'),
  'rates_file.wrong_cell_count': invalid('line {line}: {count} cells, but the first line has {expected}'),
  'rates_file.no_rate': invalid('line {line}: {value} is not a rate of {code}'),
  'rates_file.jump': invalid(
    '{date}: {value} {code}, but {before} on {day_before}',
    'Check this rate; use force if it is right.',
  ),

  // codes and value chains
  'code.unknown': notFound('{noun} not found'),
  'code.not_changeable': forbidden(
    'a REGIONAL_ADMIN can add a {noun} but cannot change one',
    'Ask a SYSTEM_ADMIN to change it.',
  ),
  'code.in_use': invalid(
    'the {noun} is used by {uses}',
    'Remove these references first, or disable the entry.',
  ),
  'code.key_taken': invalid(
    '{field}: another {noun} already has {value}',
    'Use another value, or change the existing entry.',
  ),
  'code.too_many': invalid('a code list can have at most {max} entries', 'Delete unused entries first.'),
  'code.language_twice': invalid('{field} is the same language as in translation {index}'),
  'code.unit_based_on_it': invalid('{field} is a unit that is itself based on this one'),
  'value_chain.unknown': notFound('value chain not found'),
  'value_chain.disabled': invalid('the value chain is disabled', 'Enable the value chain first.'),
  'value_chain.named_is_disabled': invalid(
    'the value chain {name} is disabled',
    'Enable the value chain first, or choose another one.',
  ),
  'value_chain.not_enabled': invalid(
    '{field} is not an enabled value chain',
    'Choose an enabled value chain.',
  ),

  // products and final products
  'product.other_owner': invalid(
    '{field} is OWNER; only the company that owns the product can have this role',
  ),
  'product.company_has_left': invalid(
    '{field}: company {company} left this product. One of its members must first allow it to be added again: POST /api/product/{product}/company/{company}/allow',
    'Ask a member of the company to allow it.',
  ),
  'product.not_left': notFound('product not found, or no company of yours with this id has left it'),
  'product.unknown': notFound("product not found, or you don't have access"),
  'product.only_owner_changes': forbidden(
    'only members of the company that owns the product can change it',
    'Ask a member of the company that owns the product.',
  ),
  'product.history_not_readable': forbidden(
    'only users who can change the product can read its history',
    'Ask a member of the company that owns the product.',
  ),
  'product.only_members_remove_company': forbidden(
    'only members of a company can remove it from a product',
    "Ask a member of the company, or of the product's owner.",
  ),
  'product.company_not_associated': notFound(
    'the company is not associated with the product',
    "Nothing: the company isn't part of the product.",
  ),
  'product.owner_cannot_be_removed': invalid(
    'the owner cannot be removed; assign the product to another company, or delete it',
    'Assign the product to another company first.',
  ),
  'final_product.unknown': notFound('final product not found'),
  'final_product.too_many': invalid(
    'a product can have at most {max} final products',
    'Remove a final product first.',
  ),

  // labels and batches
  'label.unknown': notFound("label not found, or you don't have access"),
  'label.too_many': invalid('a product can have at most {max} labels', 'Remove a label first.'),
  'label.too_many_fields': invalid('a label can have at most {max} fields'),
  'label.in_use': invalid(
    'the label is used by the final product "{name}"',
    'Remove the label from the final product first.',
  ),
  'label.of_other_product': invalid('{field} is not a label of this product'),
  'label.no_content_field': invalid("{field} is not a field of a label's content"),
  'label.no_document_of_owner': invalid('{field} is not a document of the company that owns the product'),
  'label.second_video': invalid('{field} is a second video; a label can have one'),
  'label.without_picture': notFound('the label has no picture', 'Add a picture to the label.'),
  'label_batch.unknown': notFound('batch not found'),
  'label_batch.too_many': invalid('a label can have at most {max} batches', 'Remove a batch first.'),
  'label_batch.number_taken': invalid(
    '{field}: another batch of this label has this number',
    'Use another number, or change the existing batch.',
  ),

  // feedback and the knowledge blog
  'feedback.unknown': notFound('feedback not found'),
  'feedback.consent_required': invalid('{field} is required when an email address is sent'),
  'feedback.too_much': invalid('this label accepts no more feedback', 'Contact the producer in another way.'),
  'feedback.too_much_today': tooManyRequests('this label accepts no more feedback today; try again tomorrow'),
  'blog_entry.unknown': notFound('entry not found'),
  'blog_entry.too_many': invalid('a product can have at most {max} entries', 'Remove an entry first.'),

  // personal data
  'export.running': unavailable('another export is running; try again'),
};
