namespace Cairn.Benchmarks.Measuring;

/// <summary>Thrown when a peer cannot run on this machine. Its comparisons are left out, with a message.</summary>
internal sealed class PeerUnavailableException(string peer, string reason, Exception? inner = null)
    : Exception($"{peer} is left out: {reason}", inner);
