using Cairn.Platform;

namespace Cairn.Testing;

/// <summary>A file that forwards all calls. A test's own platform derives from it to observe calls, or to make them fail.</summary>
internal abstract class ProxyFile(StoreFile real) : StoreFile
{
    public override string Path => real.Path;

    public override long Length => real.Length;

    public override FileIdentity Identity => real.Identity;

    protected StoreFile Real => real;

    public override bool IsStillAt(string path) => real.IsStillAt(path);

    public override bool TryPublish(string path, bool replace) => real.TryPublish(path, replace);

    public override void KeepPermissionsOf(string path) => real.KeepPermissionsOf(path);

    public override void Preallocate(long offset, long length) => real.Preallocate(offset, length);

    public override bool HasHoles => real.HasHoles;

    public override bool ReadsTakeSpace => real.ReadsTakeSpace;

    public override bool TryFindHole(long offset, out long start, out long end) => real.TryFindHole(offset, out start, out end);

    public override bool TryExtend(long length) => real.TryExtend(length);

    public override bool TryBack(long offset, long length) => real.TryBack(offset, length);

    public override void ZeroRange(long offset, long length) => real.ZeroRange(offset, length);

    public override MappedRegion Map(long length, bool writable) => real.Map(length, writable);

    public override MappedRegion MapCopy(long length) => real.MapCopy(length);

    public override bool TryLockByte(long offset) => real.TryLockByte(offset);

    public override bool TryLockRange(long offset, long length) => real.TryLockRange(offset, length);

    public override void UnlockRange(long offset, long length) => real.UnlockRange(offset, length);

    public override bool LockByte(long offset, TimeSpan timeout) => real.LockByte(offset, timeout);

    public override void UnlockByte(long offset) => real.UnlockByte(offset);

    public override bool IsByteLockedByOther(long offset, long length) => real.IsByteLockedByOther(offset, length);

    public override int Read(long offset, Span<byte> buffer) => real.Read(offset, buffer);

    public override void Write(long offset, ReadOnlySpan<byte> data) => real.Write(offset, data);

    public override void FlushData() => real.FlushData();

    public override void CloseKeepingMappings() => real.CloseKeepingMappings();

    public override void Dispose() => real.Dispose();
}
