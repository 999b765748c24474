namespace Cairn.Caching.Tests.Hybrid;

/// <summary>Marks a test about any implementation of HybridCache. <see cref="ContractOverMicrosoftsTests"/> runs it over Microsoft's.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RunsOverMicrosoftsAttribute : Attribute;
