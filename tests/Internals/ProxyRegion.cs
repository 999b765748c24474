using Cairn.Platform;

namespace Cairn.Testing;

/// <summary>A mapping that forwards all calls. A test's own file derives from it to observe calls, or to make them fail.</summary>
internal abstract unsafe class ProxyRegion : MappedRegion
{
    protected ProxyRegion(MappedRegion real)
    {
        Real = real;
        Address = real.Address;
        Length = real.Length;
    }

    protected MappedRegion Real { get; }

    public override void Flush(long offset, long length) => Real.Flush(offset, length);

    public override bool Populate(long offset, long length, bool write) => Real.Populate(offset, length, write);

    public override void AdviseRandomAccess() => Real.AdviseRandomAccess();

    public override void Dispose() => Real.Dispose();
}
