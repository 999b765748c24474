namespace Cairn.Dashboard.Pages.Web;

/// <summary>Reports a request that violates the reference documentation. The client receives the message with status 400.</summary>
#pragma warning disable CA1064 // Thrown and caught within this project.
internal sealed class InvalidRequestException(string message) : Exception(message);
#pragma warning restore CA1064
