" Vim syntax for rondo models: copy editors/vim into ~/.vim
if exists("b:current_syntax")
  finish
endif

syntax keyword rondoDeclaration algorithm counters param type message def process environment resilience
syntax keyword rondoDeclaration safety cover live counter control move unsafe where extends
syntax keyword rondoStore input var stable shared ghost oracle distinct each
syntax keyword rondoType bool int set seq unordered
syntax keyword rondoRound once repeat phase round finally update start step final on when as ring graph exactly of same taken request
syntax keyword rondoStatement if then else foreach let send to goto halt for
syntax keyword rondoOperator and or not in exists forall always eventually until otherwise mod
syntax keyword rondoConstant none true false
syntax keyword rondoBuiltin me all others next neighbours at received heard from sender number initial correct faulty HO SHO pending quiescent deadlocked
syntax keyword rondoBuiltin min max sum union count pick random mostfrequent majority subsets first last front
syntax keyword rondoFault most any every infinitely often synchronous fair strong channels bag fifo bound
syntax keyword rondoFault crash recover omit receive receiver are byzantine lost corrupted duplicated almost surely
syntax keyword rondoFault uniform nosplit kernel reflexive
syntax match rondoNumber "\<\d\+\>"
syntax match rondoExpect "^// expect:.*$"
syntax match rondoComment "//.*$" contains=rondoExpect

highlight default link rondoDeclaration Structure
highlight default link rondoStore StorageClass
highlight default link rondoType Type
highlight default link rondoRound Keyword
highlight default link rondoStatement Statement
highlight default link rondoOperator Operator
highlight default link rondoConstant Constant
highlight default link rondoBuiltin Function
highlight default link rondoFault PreProc
highlight default link rondoNumber Number
highlight default link rondoComment Comment
highlight default link rondoExpect SpecialComment

setlocal commentstring=//\ %s
let b:current_syntax = "rondo"
