namespace Cairn.Benchmarks.Measuring;

/// <summary>A peer cannot run on this machine. Its comparisons are left out and the run says so.</summary>
internal sealed class PeerUnavailableException(string peer, string reason, Exception? inner = null)
    : Exception($"{peer} is left out: {reason}", inner);
