namespace Cairn.Protocol.Memcached;

internal static class MemcachedMetaCodeText
{
    public static ReadOnlySpan<byte> Of(MemcachedMetaCode code) => code switch
    {
        MemcachedMetaCode.Done => "HD"u8,
        MemcachedMetaCode.Value => "VA"u8,
        MemcachedMetaCode.Miss => "EN"u8,
        MemcachedMetaCode.NotStored => "NS"u8,
        MemcachedMetaCode.Exists => "EX"u8,
        MemcachedMetaCode.NotFound => "NF"u8,
        MemcachedMetaCode.Noop => "MN"u8,
        _ => throw new ArgumentOutOfRangeException(nameof(code), code, "Not a code of a meta command."),
    };
}
