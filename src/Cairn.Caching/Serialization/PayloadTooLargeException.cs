namespace Cairn.Caching.Serialization;

/// <summary>Ends the serialization of a value that exceeds the limit. It reaches no caller of the cache.</summary>
[SuppressMessage("Design", "CA1064:Exceptions should be public", Justification = "Internal code catches it.")]
internal sealed class PayloadTooLargeException(long bytes, long maxBytes)
    : Exception($"A value of {bytes} bytes or more does not fit into {maxBytes} bytes.");
