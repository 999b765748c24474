namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>The message form of a type. It is derived once from the attributes, and checked together with all types that it reaches.</summary>
/// <param name="Type">The type.</param>
/// <param name="Members">The members in ascending order of their numbers.</param>
/// <param name="SkipsConstructor">True if objects are created without running a constructor.</param>
internal sealed record ContractDescription(Type Type, IReadOnlyList<MemberDescription> Members, bool SkipsConstructor);

/// <summary>Reports that a type is marked as a contract but cannot be one. The message states the reason and the remedy.</summary>
#pragma warning disable CA1064 // It never leaves the assembly.
internal sealed class ContractException(string message) : Exception(message);
#pragma warning restore CA1064
