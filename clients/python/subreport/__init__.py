"""Reads the reports of a subreport service, with the standard library alone."""

from .client import SubreportClient, SubscriptionList, create_client
from .errors import (
    ApiError,
    DeadlineError,
    ExportError,
    NetworkError,
    RejectionError,
    ResponseError,
    SubreportError,
    TokenRequestError,
)
from .export import SubscriptionExport
from .records import ChangesPage, FollowPage, SubscriptionPage, is_removed, parse_subscription
from .tokens import AccessToken, ValueStore

__version__ = "1.0.0"

__all__ = [
    "AccessToken",
    "ApiError",
    "ChangesPage",
    "DeadlineError",
    "ExportError",
    "FollowPage",
    "NetworkError",
    "RejectionError",
    "ResponseError",
    "SubreportClient",
    "SubreportError",
    "SubscriptionExport",
    "SubscriptionList",
    "SubscriptionPage",
    "TokenRequestError",
    "ValueStore",
    "create_client",
    "is_removed",
    "parse_subscription",
]
