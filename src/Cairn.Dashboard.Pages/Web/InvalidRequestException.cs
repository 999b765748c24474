namespace Cairn.Dashboard.Pages.Web;

/// <summary>A request is not as the reference has it. The client receives the message with the status 400.</summary>
#pragma warning disable CA1064 // Thrown and caught within this project.
internal sealed class InvalidRequestException(string message) : Exception(message);
#pragma warning restore CA1064
