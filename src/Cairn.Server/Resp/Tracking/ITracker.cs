using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp.Tracking;

/// <summary>A client that can track keys. Thread-safe, except for <see cref="OwnHashes"/>.</summary>
internal interface ITracker
{
    /// <summary>Gets the client's connection.</summary>
    RespPeer Peer { get; }

    /// <summary>Gets how the client tracks keys; null if it does not.</summary>
    TrackingState? Tracking { get; }

    /// <summary>Gets the hashes of the keys that the client changes now, if it wants no invalidations of its own changes. The hub reads
    /// them between <see cref="TrackingHub.BeginOwn"/> and <see cref="TrackingHub.EndOwn"/>.</summary>
    List<ulong> OwnHashes { get; }

    /// <summary>Sends an invalidation soon.</summary>
    /// <param name="keys">The keys, as <see cref="ChangedKeys"/> makes them; null for all keys. The caller keeps its own hold of the message.</param>
    void Invalidate(PublishedMessage? keys);
}
