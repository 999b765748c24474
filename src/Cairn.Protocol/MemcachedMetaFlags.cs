namespace Cairn.Protocol;

/// <summary>
/// The flags that a meta command carried. A flag's bit is the place of its letter behind <c>A</c>; those with a token have
/// their value in a property of <see cref="MemcachedRequest"/>.
/// </summary>
[Flags]
public enum MemcachedMetaFlags : ulong
{
    /// <summary>No flag.</summary>
    None = 0,

    /// <summary><c>b</c>: the key is base64.</summary>
    Base64Key = 1UL << ('b' - 'A'),

    /// <summary><c>c</c>: reply with the version.</summary>
    ReturnVersion = 1UL << ('c' - 'A'),

    /// <summary><c>f</c>: reply with the client's flags.</summary>
    ReturnClientFlags = 1UL << ('f' - 'A'),

    /// <summary><c>h</c>: reply whether the entry had been read before.</summary>
    ReturnHit = 1UL << ('h' - 'A'),

    /// <summary><c>k</c>: reply with the key.</summary>
    ReturnKey = 1UL << ('k' - 'A'),

    /// <summary><c>l</c>: reply with the seconds since the entry was last read.</summary>
    ReturnLastAccess = 1UL << ('l' - 'A'),

    /// <summary><c>q</c>: no reply to what is normal (a miss of <c>mg</c>, a success of the others).</summary>
    Quiet = 1UL << ('q' - 'A'),

    /// <summary><c>s</c>: reply with the size of the value.</summary>
    ReturnSize = 1UL << ('s' - 'A'),

    /// <summary><c>t</c>: reply with the seconds left to live.</summary>
    ReturnTimeToLive = 1UL << ('t' - 'A'),

    /// <summary><c>u</c>: do not count the read as a use.</summary>
    NoUpdate = 1UL << ('u' - 'A'),

    /// <summary><c>v</c>: reply with the value.</summary>
    ReturnValue = 1UL << ('v' - 'A'),

    /// <summary><c>C</c>: compare with <see cref="MemcachedRequest.Version"/>.</summary>
    CompareVersion = 1UL << ('C' - 'A'),

    /// <summary><c>D</c>: <see cref="MemcachedRequest.Delta"/> was given.</summary>
    Delta = 1UL << ('D' - 'A'),

    /// <summary><c>F</c>: <see cref="MemcachedRequest.ClientFlags"/> was given.</summary>
    ClientFlags = 1UL << ('F' - 'A'),

    /// <summary><c>I</c>: mark as stale instead of deleting, or store although the version is older.</summary>
    Invalidate = 1UL << ('I' - 'A'),

    /// <summary><c>J</c>: <see cref="MemcachedRequest.InitialValue"/> was given.</summary>
    InitialValue = 1UL << ('J' - 'A'),

    /// <summary><c>L</c>: for a proxy; ignored.</summary>
    ProxyPathL = 1UL << ('L' - 'A'),

    /// <summary><c>M</c>: <see cref="MemcachedRequest.Mode"/> was given.</summary>
    Mode = 1UL << ('M' - 'A'),

    /// <summary><c>N</c>: create a missing entry, to live for <see cref="MemcachedRequest.VivifySeconds"/>.</summary>
    Vivify = 1UL << ('N' - 'A'),

    /// <summary><c>O</c>: reply with <see cref="MemcachedRequest.Opaque"/>.</summary>
    Opaque = 1UL << ('O' - 'A'),

    /// <summary><c>P</c>: for a proxy; ignored.</summary>
    ProxyPathP = 1UL << ('P' - 'A'),

    /// <summary><c>R</c>: win the right to recache with less than <see cref="MemcachedRequest.RecacheSeconds"/> to live.</summary>
    Recache = 1UL << ('R' - 'A'),

    /// <summary><c>T</c>: set the time to live to <see cref="MemcachedRequest.ExpirationSeconds"/>.</summary>
    TimeToLive = 1UL << ('T' - 'A'),
}
