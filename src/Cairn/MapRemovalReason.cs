namespace Cairn;

/// <summary>Why a value left a map.</summary>
public enum MapRemovalReason
{
    /// <summary>A call removed the key, or cleared the map.</summary>
    Removed = 0,

    /// <summary>A call replaced the value by another.</summary>
    Replaced,

    /// <summary>The value expired, and this process removed it. That happens within about a second, or when the key is written or the room is needed.</summary>
    Expired,

    /// <summary>This process removed the value because room was needed.</summary>
    Evicted,
}
