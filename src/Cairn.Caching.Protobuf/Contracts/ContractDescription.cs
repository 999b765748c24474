namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>What a type is as a message: found once by its attributes, and checked as a whole with all types that it reaches.</summary>
/// <param name="Type">The type.</param>
/// <param name="Members">In the order of their numbers.</param>
/// <param name="SkipsConstructor">Whether objects are made without running a constructor.</param>
internal sealed record ContractDescription(Type Type, IReadOnlyList<MemberDescription> Members, bool SkipsConstructor);

/// <summary>A type looks like a contract, but cannot be one. The message says why, and what to do.</summary>
#pragma warning disable CA1064 // It never leaves the assembly.
internal sealed class ContractException(string message) : Exception(message);
#pragma warning restore CA1064
