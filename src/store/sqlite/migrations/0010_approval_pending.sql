-- Pending approvals of a requester are counted at each new one.

CREATE INDEX approval_pending_by ON approval (chain, requested_by) WHERE status = 'pending';
