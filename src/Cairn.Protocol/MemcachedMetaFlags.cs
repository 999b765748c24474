namespace Cairn.Protocol;

/// <summary>
/// The flags of a meta command. A flag's bit is the distance of its letter from <c>A</c>. A flag with a token has its value in a property
/// of <see cref="MemcachedRequest"/>.
/// </summary>
[Flags]
internal enum MemcachedMetaFlags : ulong
{
    /// <summary>No flag.</summary>
    None = 0,

    /// <summary><c>b</c>: the key is base64.</summary>
    Base64Key = 1UL << ('b' - 'A'),

    /// <summary><c>c</c>: reply with the version.</summary>
    ReturnVersion = 1UL << ('c' - 'A'),

    /// <summary><c>f</c>: reply with the client's flags.</summary>
    ReturnClientFlags = 1UL << ('f' - 'A'),

    /// <summary><c>h</c>: reply whether the entry was read before.</summary>
    ReturnHit = 1UL << ('h' - 'A'),

    /// <summary><c>k</c>: reply with the key.</summary>
    ReturnKey = 1UL << ('k' - 'A'),

    /// <summary><c>l</c>: reply with the seconds since the entry was last read.</summary>
    ReturnLastAccess = 1UL << ('l' - 'A'),

    /// <summary><c>q</c>: suppress the usual reply (a miss of <c>mg</c>, a success of the other commands).</summary>
    Quiet = 1UL << ('q' - 'A'),

    /// <summary><c>s</c>: reply with the size of the value.</summary>
    ReturnSize = 1UL << ('s' - 'A'),

    /// <summary><c>t</c>: reply with the remaining time to live in seconds.</summary>
    ReturnTimeToLive = 1UL << ('t' - 'A'),

    /// <summary><c>u</c>: do not count the read as a use.</summary>
    NoUpdate = 1UL << ('u' - 'A'),

    /// <summary><c>v</c>: reply with the value.</summary>
    ReturnValue = 1UL << ('v' - 'A'),

    /// <summary><c>x</c>: remove the value and keep the entry.</summary>
    RemoveValue = 1UL << ('x' - 'A'),

    /// <summary><c>C</c>: compare with <see cref="MemcachedRequest.Version"/>.</summary>
    CompareVersion = 1UL << ('C' - 'A'),

    /// <summary><c>D</c>: the request has a <see cref="MemcachedRequest.Delta"/>.</summary>
    Delta = 1UL << ('D' - 'A'),

    /// <summary><c>E</c>: if the entry is written, give it the version <see cref="MemcachedRequest.ChosenVersion"/>.</summary>
    NewVersion = 1UL << ('E' - 'A'),

    /// <summary><c>F</c>: the request has <see cref="MemcachedRequest.ClientFlags"/>.</summary>
    ClientFlags = 1UL << ('F' - 'A'),

    /// <summary><c>I</c>: mark the entry as stale instead of deleting it, or store even if the version is older.</summary>
    Invalidate = 1UL << ('I' - 'A'),

    /// <summary><c>J</c>: the request has an <see cref="MemcachedRequest.InitialValue"/>.</summary>
    InitialValue = 1UL << ('J' - 'A'),

    /// <summary><c>L</c>: meant for a proxy; ignored.</summary>
    ProxyPathL = 1UL << ('L' - 'A'),

    /// <summary><c>M</c>: the request has a <see cref="MemcachedRequest.Mode"/>.</summary>
    Mode = 1UL << ('M' - 'A'),

    /// <summary><c>N</c>: create a missing entry with the time to live <see cref="MemcachedRequest.VivifySeconds"/>.</summary>
    Vivify = 1UL << ('N' - 'A'),

    /// <summary><c>O</c>: reply with <see cref="MemcachedRequest.Opaque"/>.</summary>
    Opaque = 1UL << ('O' - 'A'),

    /// <summary><c>P</c>: meant for a proxy; ignored.</summary>
    ProxyPathP = 1UL << ('P' - 'A'),

    /// <summary>
    /// <c>R</c>: acquire the right to recache if less than <see cref="MemcachedRequest.RecacheSeconds"/> of the time to live remain.
    /// </summary>
    Recache = 1UL << ('R' - 'A'),

    /// <summary><c>T</c>: set the time to live to <see cref="MemcachedRequest.ExpirationSeconds"/>.</summary>
    TimeToLive = 1UL << ('T' - 'A'),
}
